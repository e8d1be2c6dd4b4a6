// SPDX-License-Identifier: Apache-2.0
//
// Steps of stages over time; a part of the time is in view.

/** Boxes, one path for all of a colour: an element for each would take most of
    the time that it takes to draw the page. */
class Paths {
  constructor() { this.byName = new Map(); }

  add(name, x, y, width, height) {
    const near = (value) => Math.round(value * 100) / 100;
    const box = `M${near(x)} ${near(y)}h${near(width)}v${near(height)}h${-near(width)}z`;
    this.byName.set(name, (this.byName.get(name) ?? "") + box);
  }

  /** Communication is drawn over the steps that it is in. */
  make() {
    const depths = {bubble: 0, overlapped: 2, communication: 3};
    const depth = ([name]) => depths[name] ?? 1;
    return [...this.byName].sort((a, b) => depth(a) - depth(b)).map(
        ([name, d]) => svg("path", {d, style: `fill: ${colour(name)}`}));
  }
}

/** The number of steps of a list that start at `time` or before. */
function startedBy(steps, time) {
  let low = 0, high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps[middle][0] <= time)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

class Gantt {
  constructor(root, picture) {
    this.root = root;
    this.picture = picture;
    this.parts = new Map(picture.parts.map((part) => [`${part.stage}/${part.chunk}`, part]));
    this.left = 62;
    this.row = 24;
    this.length = Math.max(1, picture.length);
    root.onwheel = (event) => {
      if (!event.ctrlKey && !event.metaKey && !event.shiftKey)
        return; // the page scrolls
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? 0.8 : 1.25, this.timeAt(event));
    };
    root.onpointerdown = (event) => { this.pressed = event.clientX; };
    root.onpointerup = () => { this.pressed = undefined; };
    root.onkeydown = (event) => this.press(event);
    root.ondblclick = (event) => this.zoom(0.5, this.timeAt(event));
    root.onpointermove = (event) => {
      this.drag(event);
      const found = this.stepAt(event);
      showTip(found && this.linesOf(...found), event);
    };
    root.onpointerleave = () => {
      this.pressed = undefined;
      showTip(null);
    };
  }

  // The view is kept as shares of the length, for another job.
  get from() { return state.view[0] * this.length; }
  get to() { return state.view[1] * this.length; }
  showAll() { this.moveTo(0, this.length); }

  timeAt(event) {
    const x = event.clientX - this.root.getBoundingClientRect().left - this.left;
    return this.from + (this.to - this.from) * Math.min(1, Math.max(0, x / this.width));
  }

  /** Makes the view `factor` times as long, around the time `at`. */
  zoom(factor, at = (this.from + this.to) / 2) {
    const span = Math.min(this.length, Math.max(this.length / 5000, (this.to - this.from) * factor));
    const share = (at - this.from) / (this.to - this.from);
    this.moveTo(at - span * share, span);
  }

  /** Moves the view by a share of its length. */
  pan(share) {
    const span = this.to - this.from;
    this.moveTo(this.from + span * share, span);
  }

  moveTo(from, span) {
    const start = Math.max(0, Math.min(from, this.length - span));
    state.view = [start / this.length, (start + span) / this.length];
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
      "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2),
      0: () => this.showAll(),
      ArrowLeft: () => this.pan(-0.25), ArrowRight: () => this.pan(0.25),
    }[event.key];
    if (action && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      action();
    }
  }

  communicationOf(stage, kind, chunk) {
    return this.parts.get(`${stage}/${chunk}`)?.steps?.[kind].communication ?? [0, 0];
  }

  /** The row and the step where the pointer is; nothing where a stage is idle. */
  stepAt(event) {
    const row = Math.floor((event.clientY - this.root.getBoundingClientRect().top - 2) / this.row);
    const found = this.picture.stages[row];
    if (!found)
      return null;
    const time = this.timeAt(event);
    const isIn = ([start, end]) => start <= time && time < end;
    if (found.update && isIn([found.update.start, found.update.end]))
      return [row, "update"];
    const index = startedBy(found.steps, time) - 1;
    return index >= 0 && isIn(found.steps[index]) ? [row, index] : null;
  }

  /** What a step of a row is; steps that begin together are one. */
  linesOf(row, index) {
    const {picture} = this;
    const time = (value) => read(value, picture.unit);
    const {stage, steps, update} = picture.stages[row];
    if (index === "update") {
      const [exposed, hidden] = update.communication ?? [0, 0];
      return [`update of stage ${stage}, once an iteration`,
              `${time(update.start)} to ${time(update.end)}`,
              `exposed communication ${time(exposed)}, overlapped ${time(hidden)}`];
    }
    const [start, end, ...actions] = steps[index];
    const lines = [];
    for (let at = 0; at < actions.length; at += 3) {
      const [kind, microBatch, chunk] = actions.slice(at, at + 3);
      const name = picture.kinds[kind];
      const part = this.parts.get(`${stage}/${chunk}`);
      const bytes = name === "forward_step" ? part.forward_bytes
          : name === "backward_weight" ? 0 : part.backward_bytes;
      lines.push(`${name} of micro-batch ${microBatch}, chunk ${chunk} of stage ${stage}`,
                 part.layers, ...bytes ? [`sends ${read(bytes, "bytes")}`] : []);
      const [exposed, hidden] = this.communicationOf(stage, kind, chunk);
      if (exposed || hidden)
        lines.push(`exposed communication ${time(exposed)}, overlapped ${time(hidden)}`);
    }
    return [...lines, `${time(start)} to ${time(end)}`, ...picture.where ? [picture.where] : []];
  }

  x(time) { return this.left + this.width * (time - this.from) / (this.to - this.from); }

  /** A part of a row between two times, as far as it is in view. */
  box(start, end, y, height, name, isStep) {
    const from = Math.max(this.left, this.x(start));
    const room = Math.min(this.x(end), this.left + this.width) - from;
    const width = room - (room > 4 && isStep ? 0.6 : 0);
    if (width <= 0 && (end < this.from || start > this.to))
      return null;
    this.paths.add(name, from, y, Math.max(0.4, width), height);
    return {from, width};
  }

  /** Exposed communication at the end of a step, overlapped at its foot. */
  drawCommunication([exposed, hidden], start, end, y, height) {
    if (this.x(end) - this.x(start) < 4)
      return;
    const compute = Math.max(0, end - start - exposed);
    if (hidden > 0)
      this.box(start, start + Math.min(hidden, compute), y + height - 5, 5, "overlapped", true);
    if (exposed > 0)
      this.box(Math.max(start, end - exposed), end, y, height, "communication", true);
  }

  /** Steps that overlap share the height. */
  drawStep({stage}, [start, end, ...actions], top) {
    const {kinds, styles} = this.picture;
    const shares = actions.length / 3;
    const height = (this.row - 4) / shares;
    for (let share = 0; share < shares; ++share) {
      const [kind, microBatch, chunk] = actions.slice(3 * share, 3 * share + 3);
      const [letter, even, odd] = styles[kinds[kind]];
      const y = top + share * height;
      const box = this.box(start, end, y, height - (shares > 1 ? 0.5 : 0),
                           chunk % 2 ? odd : even, true);
      this.drawCommunication(this.communicationOf(stage, kind, chunk), start, end, y, height);
      if (box && box.width > 9 * (1 + String(microBatch).length))
        this.texts.push(svg("text", {
          class: shares > 1 ? "inside small" : "inside", x: box.from + 3,
          y: y + height / 2 + (shares > 1 ? 3 : 4),
        }, `${letter}${microBatch}`));
    }
  }

  /** Steps are in order: those in view are together. */
  drawSteps(of, y) {
    const {steps} = of;
    for (let index = Math.max(0, startedBy(steps, this.from) - 1);
         index < steps.length && steps[index][0] <= this.to; ++index)
      if (steps[index][1] >= this.from)
        this.drawStep(of, steps[index], y);
  }

  drawGap([start, end, count], y) {
    const from = Math.max(this.left, this.x(start));
    const to = Math.min(this.x(end), this.left + this.width);
    this.box(start, end, y, this.row - 4, "ground");
    const text = `… ${grouped(String(count))} steps …`;
    if (to - from < 7 * text.length)
      return;
    this.texts.push(svg("text", {x: (from + to) / 2, y: y + 15, "text-anchor": "middle"}, text));
  }

  drawStage(of, y) {
    const {stage, gap, update} = of;
    this.texts.push(svg("text", {x: 2, y: y + 15}, `stage ${stage}`));
    this.box(0, this.length, y, this.row - 4, "bubble");
    this.drawSteps(of, y);
    if (update && update.end > update.start) {
      this.box(update.start, update.end, y, this.row - 4, "update", true);
      this.drawCommunication(update.communication ?? [0, 0], update.start, update.end, y,
                             this.row - 4);
    }
    if (gap)
      this.drawGap(gap, y);
  }

  draw() {
    const {stages, unit} = this.picture;
    const height = stages.length * this.row + 22;
    const {clientWidth} = this.root; // once: it lays out the page
    this.width = clientWidth - this.left - 2;
    this.paths = new Paths();
    this.texts = [];
    this.root.setAttribute("viewBox", `0 0 ${clientWidth} ${height}`);
    this.root.setAttribute("height", height);
    stages.forEach((of, row) => this.drawStage(of, row * this.row + 2));
    for (const [time, anchor] of [[this.from, "start"], [this.to, "end"]])
      this.texts.push(svg("text", {class: "axis", x: this.x(time), y: height - 6,
                                   "text-anchor": anchor}, read(Math.round(time), unit)));
    this.root.replaceChildren(...this.paths.make(), ...this.texts);
  }
}

let gantt = null;

function showTimeline() {
  const {picture} = data, {schedule} = plan;
  byId("timeline").hidden = byId("to-timeline").hidden = Boolean(plan.serve);
  gantt = null;
  if (plan.serve)
    return;
  byId("schedule-summary").replaceChildren(
      `Schedule ${schedule.kind}: ${grouped(String(schedule.micro_batches))} micro-batches`,
      schedule.chunks_per_stage > 1 ? `, ${schedule.chunks_per_stage} virtual stages per stage. ` : ". ",
      picture?.unit === "ns"
          ? "Steps take the time of their ops, and messages between stages theirs. "
          : "The job has no times of ops: a forward step takes one step, and a backward step two. ",
      html("span", {class: "hint"}, "Zoom with + and -, or Ctrl and the wheel; move with the " +
           "arrow keys, or by dragging. 0 shows all."));
  byId("gantt").toggleAttribute("hidden", !picture);
  byId("gantt-buttons").hidden = !picture;
  byId("gantt-note").textContent = !picture ? "There are too many steps for a picture." : [
    picture.note,
    picture.stages_left_out ? `${grouped(String(picture.stages_left_out))} stages between these ` +
                              "are left out." : "",
    picture.unit === "ns" && picture.is_all ? `The iteration takes ${read(picture.length, "ns")}.` : "",
  ].filter(Boolean).join(" ");
  const parts = tableOf("time", "parts");
  byId("time-parts").replaceChildren(...parts ? [
    html("h3", {}, `Time of an iteration ${parts.title}`),
    termBar(data.tiles.find(({key}) => key === "time").terms),
    legend(["compute", "kernels"], ["communication", "exposed communication"],
           ["host", "launches"], ["bubble", "waiting for stages"]),
  ] : []);
  barTips(byId("time-parts"));
  byId("time-all").replaceChildren(...[allOf("time")].filter(Boolean));
  if (!picture)
    return;
  gantt = new Gantt(byId("gantt"), picture);
  const drawn = new Set(picture.stages.flatMap(
      ({steps}) => steps.flatMap((step) => step.filter((_, at) => at % 3 === 2))));
  const isTimed = picture.unit === "ns";
  byId("gantt-legend").replaceChildren(legend(
      ...Object.entries(picture.styles)
          .filter(([kind]) => drawn.has(picture.kinds.indexOf(kind)))
          .flatMap(([, [, even, odd, word]]) => [
            [even, word], ...picture.parts.some(({chunk}) => chunk > 0)
                ? [[odd, `${word}, odd chunks`]] : []]),
      ...isTimed ? [["update", "update"], ["communication", "exposed communication"],
                    ["overlapped", "overlapped communication"]] : [],
      ["bubble", "idle"]));
  const actions = {
    "zoom-in": () => gantt.zoom(0.5), "zoom-out": () => gantt.zoom(2),
    "zoom-left": () => gantt.pan(-0.25), "zoom-right": () => gantt.pan(0.25),
    "zoom-all": () => gantt.showAll(),
  };
  for (const [id, action] of Object.entries(actions))
    byId(id).onclick = action;
}
