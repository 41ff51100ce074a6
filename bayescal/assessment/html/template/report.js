"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  document.documentElement.classList.add("js");

  for (const figure of all("figure.read")) {
    const readout = figure.querySelector(".readout");
    const read = (event) => {
      const zone = event.target.closest(".zones rect");
      if (!zone) return;
      all(".zones .at", figure).forEach((other) => other.classList.remove("at"));
      zone.classList.add("at");
      readout.textContent = zone.querySelector("title").textContent;
    };
    figure.addEventListener("pointermove", read);
    figure.addEventListener("pointerdown", read);
  }

  for (const box of all(".own")) {
    const even = Number(box.dataset.even);
    const slider = box.querySelector("input");
    const update = () => {
      const prior = Number(slider.value);
      const posterior = (even * prior) / (even * prior + (1 - even) * (1 - prior));
      document.getElementById("own-prior-value").textContent = prior.toFixed(2);
      document.getElementById("own-posterior").textContent =
        posterior < 0.005 ? "< 0.01" : posterior > 0.995 ? "> 0.99" : posterior.toFixed(2);
    };
    box.hidden = false;
    slider.addEventListener("input", update);
    update();
  }
})();
