// SPDX-License-Identifier: Apache-2.0
// The texts with less contrast than WCAG AA asks for: 4.5, or 3 of large ones.
(() => {
  const parts = (colour) => colour.match(/[\d.]+/g).map(Number);
  const luminance = (colour) => {
    const [r, g, b] = parts(colour).map((part) => {
      const value = part / 255;
      return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const groundOf = (at) => {
    for (; at; at = at.parentElement) {
      const {backgroundColor} = getComputedStyle(at);
      if ((parts(backgroundColor)[3] ?? 1) === 1)
        return backgroundColor; }
    return 'rgb(255, 255, 255)'; };
  const faint = new Set();
  for (const each of document.querySelectorAll('body *')) {
    const hasText = [...each.childNodes].some(
        (node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    if (!hasText || each.closest('svg, script, option') || !each.getClientRects().length)
      continue;
    const style = getComputedStyle(each);
    const [a, b] = [luminance(style.color), luminance(groundOf(each))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < (parseFloat(style.fontSize) >= 24 ? 3 : 4.5))
      faint.add(`${each.textContent.slice(0, 30)} ${contrast.toFixed(2)}`); }
  return [...faint].slice(0, 5); })()
