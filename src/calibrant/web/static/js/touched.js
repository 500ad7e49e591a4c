// Scripts may come late: what somebody has done to a form by then is told by what it came with.

/** Whether a field says something else than it did when the page came. */
export function isTouched(field) {
  if (field.type === "radio" || field.type === "checkbox") return field.checked !== field.defaultChecked;
  if (field.tagName !== "SELECT") return "defaultValue" in field && field.value !== field.defaultValue;
  const came = [...field.options].find((one) => one.defaultSelected) ?? field.options[0];
  return field.value !== came?.value;
}
