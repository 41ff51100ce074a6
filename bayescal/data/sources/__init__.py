"""Where tables come from: data frames, Parquet files, Dask, and any parts that arrive one by one."""
