// SPDX-License-Identifier: Apache-2.0
// The boxes of the timeline, each with the path that it is in, which has all of a colour; `steps`:
// the names of the colours of steps.
(() => {
  const steps = new Set(Object.values(data.picture.styles).flatMap(
      ([, even, odd]) => [even, odd]));
  return [...document.querySelectorAll('#gantt path')].flatMap((path) => {
    const [, name] = path.style.fill.match(/^var\(--(.*)\)$/);
    return [...path.getAttribute('d').matchAll(
        /M([\d.]+) ([\d.]+)h([\d.]+)v([\d.]+)h-[\d.]+z/g)].map((box) => ({
      name, isStep: steps.has(name), fill: getComputedStyle(path).fill,
      x: Number(box[1]), y: Number(box[2]),
      width: Number(box[3]), height: Number(box[4])})); }); })()
