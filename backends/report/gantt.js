// SPDX-License-Identifier: Apache-2.0
//
// Steps of stages over time; a part of the time is in view.

class Gantt {
  constructor(root, picture) {
    this.root = root;
    this.picture = picture;
    this.parts = new Map(picture.parts.map((part) => [`${part.stage}/${part.chunk}`, part]));
    this.left = 70;
    this.row = 22;
    this.showAll();
    root.onwheel = (event) => {
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? 0.8 : 1.25, this.timeAt(event));
    };
    root.onpointerdown = (event) => { this.pressed = event.clientX; };
    root.onpointerup = () => { this.pressed = undefined; };
        root.onkeydown = (event) => this.press(event);
    tipsOn(root, ({dataset}) => dataset.step && this.linesOf(...dataset.step.split("/")));
    const {onpointermove, onpointerleave} = root;
    root.onpointermove = (event) => { this.drag(event); onpointermove(event); };
    root.onpointerleave = () => { this.pressed = undefined; onpointerleave(); };
  }

  showAll() {
    this.from = 0;
    this.to = Math.max(1, this.picture.length);
  }

  get width() { return this.root.clientWidth - this.left - 4; }

  timeAt(event) {
    const x = event.clientX - this.root.getBoundingClientRect().left - this.left;
    return this.from + (this.to - this.from) * Math.min(1, Math.max(0, x / this.width));
  }

  /** Makes the view `factor` times as long, around the time `at`. */
  zoom(factor, at = (this.from + this.to) / 2) {
    const length = Math.max(1, this.picture.length);
    const span = Math.min(length, Math.max(length / 5000, (this.to - this.from) * factor));
    const share = (at - this.from) / (this.to - this.from);
    this.moveTo(at - span * share, span);
  }

  /** Moves the view by a share of its length. */
  pan(share) {
    const span = this.to - this.from;
    this.moveTo(this.from + span * share, span);
  }

  moveTo(from, span) {
    this.from = Math.max(0, Math.min(from, Math.max(1, this.picture.length) - span));
    this.to = this.from + span;
    this.draw();
  }

  drag(event) {
    if (this.pressed === undefined || event.buttons === 0)
      return;
    this.pan((this.pressed - event.clientX) / this.width);
    this.pressed = event.clientX;
  }

  press(event) {
    const action = {
      "+": () => this.zoom(0.5), "-": () => this.zoom(2),
      ArrowLeft: () => this.pan(-0.25), ArrowRight: () => this.pan(0.25),
    }[event.key];
    if (action) {
      event.preventDefault();
      action();
    }
  }

  /** What a step of a row is; steps that begin together are one. */
  linesOf(row, index) {
    const {picture} = this;
    const {stage, steps} = picture.stages[row];
    const [start, end, ...actions] = steps[index];
    const lines = [];
    for (let at = 0; at < actions.length; at += 3) {
      const [kind, microBatch, chunk] = actions.slice(at, at + 3);
      const name = picture.kinds[kind];
      const part = this.parts.get(`${stage}/${chunk}`);
      const bytes = name === "forward_step" ? part.forward_bytes
          : name === "backward_weight" ? 0 : part.backward_bytes;
      lines.push(`${name} of micro-batch ${microBatch}, chunk ${chunk} of stage ${stage}`,
                 part.layers, ...bytes ? [`sends ${readings.bytes(String(bytes))}`] : []);
    }
    const time = (value) => read(value, picture.unit);
    return [...lines, `${time(start)} to ${time(end)}`, ...picture.where ? [picture.where] : []];
  }

  x(time) { return this.left + this.width * (time - this.from) / (this.to - this.from); }

  /** Steps that overlap share the height. */
  drawStep(row, index, top) {
    const {stages, kinds, styles} = this.picture;
    const [start, end, ...actions] = stages[row].steps[index];
    if (end < this.from || start > this.to)
      return;
    const x = Math.max(this.left, this.x(start));
    const width = Math.max(0.5, Math.min(this.x(end), this.left + this.width) - x);
    const shares = actions.length / 3;
    const height = (this.row - 4) / shares;
    for (let share = 0; share < shares; ++share) {
      const [kind, microBatch, chunk] = actions.slice(3 * share, 3 * share + 3);
      const [letter, even, odd] = styles[kinds[kind]];
      const y = top + share * height;
      this.root.append(svg("rect", {
        x, y, width: Math.max(0.3, width - 0.5), height: height - (shares > 1 ? 0.5 : 0),
        fill: chunk % 2 ? odd : even, "data-step": `${row}/${index}`,
      }));
      if (width > 26)
        this.root.append(svg("text", {
          class: shares > 1 ? "inside small" : "inside", x: x + 3, y: y + height / 2 + 4 - shares / 2,
        }, `${letter}${microBatch}`));
    }
  }

  drawGap([start, end, count], y) {
    const from = Math.max(this.left, this.x(start));
    const to = Math.min(this.x(end), this.left + this.width);
    if (to - from < 60)
      return;
    this.root.append(svg("text", {x: (from + to) / 2, y: y + 13, "text-anchor": "middle"},
                         `… ${grouped(String(count))} steps …`));
  }

  draw() {
    const {stages, unit} = this.picture;
    const height = stages.length * this.row + 20;
    this.root.setAttribute("viewBox", `0 0 ${this.root.clientWidth} ${height}`);
    this.root.setAttribute("height", height);
    this.root.replaceChildren();
    stages.forEach(({stage, steps, gap}, row) => {
      const y = row * this.row + 2;
      this.root.append(svg("text", {x: 4, y: y + 13}, `stage ${stage}`));
      for (let index = 0; index < steps.length; ++index)
        this.drawStep(row, index, y);
      if (gap)
        this.drawGap(gap, y);
    });
    for (const [time, anchor] of [[this.from, "start"], [this.to, "end"]])
      this.root.append(svg("text", {x: this.x(time), y: height - 5, "text-anchor": anchor},
                           read(Math.round(time), unit)));
  }
}

/** The picture, or null if the schedule is too long for one. */
function makeGantt(view) {
  const {schedule} = plan;
  byId("schedule-summary").replaceChildren(
      `${schedule.kind}, ${schedule.micro_batches} micro-batches; a stage works `,
      figure(schedule.work_steps, "step", "Steps of work"), " and waits ",
      figure(schedule.bubble_steps, "step", "Steps of waiting"), ", a bubble of ",
      figure(schedule.bubble_millionths, "millionths", "Bubble"),
      ", if a forward step takes one and a backward step two.");
  const {picture} = data;
  byId("gantt-note").textContent = !picture
      ? "There are too many steps for a picture." : [
        picture.note,
        picture.stages_left_out ? `${picture.stages_left_out} stages between these are left out.` : "",
        picture.unit === "ns" ? "Times are those of the job's ops; messages take none." : "",
        picture.iteration && picture.unit === "ns"
            ? `All steps take ${read(picture.iteration, "ns")}.` : "",
      ].filter(Boolean).join(" ");
  byId("gantt").hidden = byId("gantt-buttons").hidden = !picture;
  if (!picture)
    return null;
  const drawn = new Set(picture.stages.flatMap(
      ({steps}) => steps.flatMap((step) => step.filter((_, at) => at % 3 === 2))));
  byId("gantt-legend").replaceChildren(
      ...Object.entries(picture.styles)
          .filter(([kind]) => drawn.has(picture.kinds.indexOf(kind)))
          .map(([, [, colour, , word]]) => html(
              "span", {}, html("i", {style: `background: ${colour}`}), word)),
      ...picture.parts.some(({chunk}) => chunk > 0) ? ["pale: every other chunk"] : []);
  const gantt = new Gantt(byId("gantt"), picture);
  if (view)
    [gantt.from, gantt.to] = view.map((share) => share * picture.length);
  const actions = {
    "zoom-in": () => gantt.zoom(0.5), "zoom-out": () => gantt.zoom(2),
    "zoom-left": () => gantt.pan(-0.25), "zoom-right": () => gantt.pan(0.25),
    "zoom-all": () => { gantt.showAll(); gantt.draw(); },
  };
  for (const [id, action] of Object.entries(actions))
    byId(id).onclick = action;
  return gantt;
}
