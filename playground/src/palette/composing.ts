/**
 * Returns whether the key belongs to an input method, in which Enter confirms a character (Japanese, Chinese, …). WebKit reports this only
 * by the key code.
 */
export function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === 229
}
