"use strict";
/* Draws the pool on a canvas. All texts go in as text, never as HTML. */
(() => {
  const map = JSON.parse(document.getElementById("map").textContent);
  const canvas = document.querySelector("canvas");
  const tip = document.querySelector(".tip");
  const figure = canvas.parentElement;
  const items = [...document.querySelectorAll("ol.picks > li")];
  const cluster = document.querySelector("#cluster");
  const pen = canvas.getContext("2d");
  const add = (parent, tag, text) => {
    const element = parent.appendChild(document.createElement(tag));
    element.textContent = text;
    return element;
  };

  const colour = (number) => {
    if (number < 0) return "#8a8f98";
    return map.palette[number] ?? `hsl(${(number * 137.5) % 360} 55% 52%)`;
  };
  const legend = document.querySelector(".legend");
  map.classes.forEach((name, number) => {
    const entry = add(legend, "span", "");
    add(entry, "i", "").style.background = colour(number);
    entry.append(name);
  });

  /* The view: a point of the map in the middle of the canvas, and pixels a unit. */
  const bounds = [map.x, map.y].map((values) => {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return { middle: (low + high) / 2, size: high - low || 1 };
  });
  let view, size;
  const fit = () => {
    const scale = 0.94 * Math.min(size.width / bounds[0].size, size.height / bounds[1].size);
    view = { x: bounds[0].middle, y: bounds[1].middle, scale, smallest: scale };
  };
  const toScreen = (row) => [
    size.width / 2 + (map.x[row] - view.x) * view.scale,
    size.height / 2 - (map.y[row] - view.y) * view.scale,
  ];

  const layers = [...document.querySelectorAll(".controls input[data-kind]")];
  const shown = (row) => layers.some((box) => box.checked && +box.dataset.kind === map.kind[row]);
  const PICK = 3, PSEUDO_ERROR = 2, LABELLED = 1;
  const order = map.x.map((_, row) => row).sort((a, b) => map.kind[a] - map.kind[b]);
  let chosen = -1;

  function mark(row, x, y) {
    const isPick = map.kind[row] === PICK;
    const radius = row === chosen ? 9 : isPick ? (size.width < 500 ? 4.5 : 6) : 3;
    pen.beginPath();
    if (map.kind[row] === PSEUDO_ERROR) {
      pen.moveTo(x - 4, y - 4), pen.lineTo(x + 4, y + 4);
      pen.moveTo(x + 4, y - 4), pen.lineTo(x - 4, y + 4);
      pen.strokeStyle = colour(map.predicted[row]);
      pen.lineWidth = 1.8;
      pen.stroke();
      return;
    }
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    pen.fillStyle = colour(map.predicted[row]);
    if (map.kind[row] === LABELLED) pen.strokeStyle = pen.fillStyle, pen.lineWidth = 1.2;
    else pen.fill(), pen.strokeStyle = getComputedStyle(document.body).color, pen.lineWidth = 1.5;
    if (isPick || map.kind[row] === LABELLED) pen.stroke();
  }

  function draw() {
    pen.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    pen.clearRect(0, 0, size.width, size.height);
    const only = +cluster.value;
    for (const row of order) {
      if (!shown(row)) continue;
      const isHere = only < 0 || map.cluster[row] === only;
      pen.globalAlpha = !isHere ? 0.08 : map.kind[row] === 0 ? 0.45 : 1;
      mark(row, ...toScreen(row));
    }
    pen.globalAlpha = 1;
  }

  function nearest(x, y) {
    let best = -1, least = 12 ** 2;
    for (const row of order) {
      if (!shown(row)) continue;
      const [u, v] = toScreen(row);
      // Of rows that lie together the pick is meant.
      const distance = (u - x) ** 2 + (v - y) ** 2 - (map.kind[row] === PICK ? 16 : 0);
      if (distance < least) [best, least] = [row, distance];
    }
    return best;
  }

  function describe(row, x, y) {
    tip.hidden = row < 0;
    if (row < 0) return;
    tip.replaceChildren();
    add(tip, "p", map.texts[row]);
    const number = map.predicted[row];
    if (number >= 0) {
      add(tip, "p", `Predicted: ${map.classes[number]} (${Math.round(100 * map.confidence[row])} %)`);
    }
    add(tip, "p", ["Not labelled", "Labelled", "Pseudo error", "Picked"][map.kind[row]]);
    if (map.cluster[row] >= 0) add(tip, "p", map.clusters[map.cluster[row]]);
    tip.style.left = `${Math.max(0, Math.min(x + 12, figure.clientWidth - tip.offsetWidth))}px`;
    tip.style.top = `${canvas.offsetTop + y + 14}px`;
  }

  function choose(row) {
    chosen = row;
    items.forEach((item, i) => item.classList.toggle("on", map.picks[i] === row));
    draw();
  }

  function zoom(factor, x = size.width / 2, y = size.height / 2) {
    const scale = Math.max(view.smallest / 2, Math.min(view.scale * factor, view.smallest * 200));
    const move = 1 / view.scale - 1 / scale;
    view.x += (x - size.width / 2) * move;
    view.y -= (y - size.height / 2) * move;
    view.scale = scale;
    draw();
  }

  const at = (event) => [event.offsetX, event.offsetY];
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    drag = { x: event.offsetX, y: event.offsetY, moved: false };
    if (event.pointerType === "mouse") canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = at(event);
    if (drag && event.pointerType === "mouse" && event.buttons) {
      drag.moved ||= Math.hypot(x - drag.x, y - drag.y) > 3;
      if (drag.moved) {
        view.x -= event.movementX / view.scale;
        view.y += event.movementY / view.scale;
        describe(-1);
        draw();
      }
      return;
    }
    describe(nearest(x, y), x, y);
  });
  canvas.addEventListener("pointerup", (event) => {
    const [x, y] = at(event);
    if (drag && !drag.moved) {
      const row = nearest(x, y);
      describe(row, x, y);
      if (row >= 0) {
        choose(row);
        items[map.picks.indexOf(row)]?.scrollIntoView({ block: "nearest" });
      }
    }
    drag = null;
  });
  canvas.addEventListener("pointerleave", () => describe(-1));
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY / 400), ...at(event));
  }, { passive: false });
  canvas.addEventListener("dblclick", () => { fit(); draw(); });

  items.forEach((item, i) => {
    const show = () => {
      choose(map.picks[i]);
      const [x, y] = toScreen(map.picks[i]);
      describe(map.picks[i], x, y);
    };
    item.addEventListener("click", show);
    item.addEventListener("keydown", (event) => { if (event.key === "Enter") show(); });
  });
  for (const box of [...layers, cluster]) box.addEventListener("change", draw);
  document.querySelector("#in").addEventListener("click", () => zoom(1.5));
  document.querySelector("#out").addEventListener("click", () => zoom(1 / 1.5));
  document.querySelector("#all").addEventListener("click", () => { fit(); draw(); });

  function resize() {
    const before = size?.width;
    size = { width: canvas.clientWidth, height: canvas.clientHeight };
    canvas.width = size.width * devicePixelRatio;
    canvas.height = size.height * devicePixelRatio;
    if (before !== size.width) fit();
    draw();
  }
  new ResizeObserver(resize).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  resize();
})();
