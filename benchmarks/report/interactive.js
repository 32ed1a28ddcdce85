"use strict";
/* Draws the map of a pool into an empty element; all texts go in as text, never as HTML. */
function drawPoolMap(box, map) {
  const add = (parent, tag, text = "", name = "") => {
    const element = parent.appendChild(document.createElement(tag));
    element.textContent = text;
    element.className = name;
    return element;
  };
  const keys = add(box, "div", "", "pool-map-keys");
  const chart = add(box, "div", "", "pool-map-chart");
  const tip = add(box, "div", "", "pool-map-tip");
  tip.hidden = true;

  const rows = map.x.map((_, row) => row);
  const isRight = (row) => map.predicted[row] === map.truth[row];
  const layers = [
    { name: "right", rows: rows.filter(isRight), on: true, colour: "#888888" },
    { name: "wrong", rows: rows.filter((row) => !isRight(row)), on: true, isWrong: true },
    ...map.strategies,
  ];
  for (const layer of layers) {
    const label = add(keys, "label");
    layer.box = add(label, "input");
    layer.box.type = "checkbox";
    layer.box.checked = layer.on;
    layer.box.addEventListener("change", draw);
    const sign = add(label, "span", layer.isWrong ? "×" : "●");
    if (layer.colour) sign.style.color = layer.colour;
    add(label, "span", layer.reasons === undefined ? layer.name : `picks of ${layer.name}`);
  }

  function marker(layer, ink) {
    if (layer.isWrong) return { symbol: "x-thin", size: 5, line: { color: ink, width: 1 } };
    if (layer.reasons === undefined) return { color: layer.colour, size: 5, opacity: 0.45 };
    const size = box.clientWidth < 500 ? 7 : 10;
    return { color: layer.colour, size, line: { color: ink, width: 1 } };
  }

  function draw() {
    // On paper the element is narrower than it says here.
    const width = Math.min(box.clientWidth, matchMedia("print").matches ? 680 : Infinity);
    if (!width) return;
    const ink = getComputedStyle(box).color;
    const traces = layers.map((layer) => ({
      type: "scatter",
      mode: "markers",
      x: layer.rows.map((row) => map.x[row]),
      y: layer.rows.map((row) => map.y[row]),
      customdata: layer.rows,
      marker: marker(layer, ink),
      visible: layer.box.checked,
      hoverinfo: "none",
    }));
    const axis = { visible: false };
    const layout = {
      width,
      height: chart.clientHeight,
      margin: { l: 0, r: 0, t: 0, b: 0 },
      paper_bgcolor: "transparent",
      plot_bgcolor: "transparent",
      font: { color: ink },
      showlegend: false,
      hovermode: "closest",
      // A finger that drags wants to scroll the page.
      dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom",
      xaxis: axis,
      yaxis: { ...axis, scaleanchor: "x" },
      uirevision: "same",
    };
    Plotly.react(chart, traces, layout, { displayModeBar: false });
  }

  function describe(row) {
    tip.replaceChildren();
    add(tip, "p", map.texts[row]);
    const percent = Math.round(100 * map.confidence[row]);
    add(tip, "p", `Predicted: ${map.classes[map.predicted[row]]} (${percent} %)`);
    add(tip, "p", `True: ${map.classes[map.truth[row]]}`, isRight(row) ? "" : "pool-map-wrong");
    if (map.clusters) add(tip, "p", map.clusters[map.cluster[row]]);
    const picking = map.strategies.filter((strategy) => strategy.rows.includes(row));
    if (picking.length) add(tip, "p", `Picked by ${picking.map((s) => s.name).join(", ")}`);
    for (const { name, rows, reasons, box } of picking) {
      if (reasons && box.checked) add(tip, "p", `${name}: ${reasons[rows.indexOf(row)]}`);
    }
  }

  /* The visible pick under the pointer, on top of which plotly may see another dot. */
  function pickAt(x, y, { xaxis, yaxis }) {
    const distance = (row) => Math.hypot(xaxis.l2p(map.x[row]) - x, yaxis.l2p(map.y[row]) - y);
    const picks = map.strategies.filter((s) => s.box.checked).flatMap((s) => s.rows);
    return picks.filter((row) => distance(row) < 6).sort((a, b) => distance(a) - distance(b))[0];
  }

  function show({ event, points: [point] }) {
    const corner = chart.getBoundingClientRect();
    const [x, y] = [event.clientX - corner.left, event.clientY - corner.top];
    describe(pickAt(x, y, point) ?? point.customdata);
    tip.hidden = false;
    tip.style.left = `${Math.max(0, Math.min(x + 12, box.clientWidth - tip.offsetWidth))}px`;
    tip.style.top = `${chart.offsetTop + y + 12}px`;
  }

  let width = 0;
  function resize() {
    if (box.clientWidth === width) return;
    width = box.clientWidth;
    draw();
  }

  Plotly.newPlot(chart, []);
  chart.on("plotly_hover", show);
  chart.on("plotly_unhover", () => { tip.hidden = true; });
  resize();
  new ResizeObserver(resize).observe(box);
  for (const media of ["(prefers-color-scheme: dark)", "print"]) {
    matchMedia(media).addEventListener("change", draw);
  }
}
