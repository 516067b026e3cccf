// Before the first paint, so that no page flashes in the other colours. See app/lib/theme.js.
const chosen = localStorage.getItem("stemma.theme");
if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
