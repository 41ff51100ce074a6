"""Engines that turn a table and a curve family into a posterior; `fit` picks one."""
