// SPDX-License-Identifier: Apache-2.0
// Texts below an element that overlap: the boxes of all lines of text that are seen, cut where
// their elements are cut.
((root) => {
  const boxes = [];
  const cuts = new Map();
  const cutOf = (at) => {
    if (!at || at === document.documentElement)
      return {left: -Infinity, right: Infinity};
    if (!cuts.has(at)) {
      const {left, right} = cutOf(at.parentElement);
      const box = getComputedStyle(at).overflowX === 'visible'
          ? {left, right} : at.getBoundingClientRect();
      cuts.set(at, {left: Math.max(left, box.left), right: Math.min(right, box.right)});
    }
    return cuts.get(at); };
  const walker = document.createTreeWalker(document.querySelector(root), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode;
    if (!text.data.trim() || text.parentElement.closest('option, script, [hidden]'))
      continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    for (const {left, right, top, bottom} of range.getClientRects()) {
      const box = {left, right, top: top + 3, bottom: bottom - 3, text: text.data, of: text};
      const cut = cutOf(text.parentElement);
      box.left = Math.max(box.left, cut.left);
      box.right = Math.min(box.right, cut.right);
      if (box.right - box.left > 1 && box.bottom > box.top)
        boxes.push(box);
    }
  }
  boxes.sort((a, b) => a.top - b.top);
  const found = [];
  for (let i = 0; i < boxes.length; ++i)
    for (let j = i + 1; j < boxes.length && boxes[j].top < boxes[i].bottom; ++j)
      if (boxes[i].of !== boxes[j].of && boxes[i].left + 1 < boxes[j].right && boxes[j].left + 1 < boxes[i].right)
        found.push(`${boxes[i].text} / ${boxes[j].text}`);
  return {texts: boxes.length, found: found.slice(0, 5)}; })
