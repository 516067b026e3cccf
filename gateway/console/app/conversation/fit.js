// Textareas as high as what they hold, within the limit of their style.
export function fit(field) {
  if (!field) return;
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight + 2}px`;
}
