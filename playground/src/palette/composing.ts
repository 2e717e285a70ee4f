/** Whether the key belongs to an input method: its Enter ends a character (Japanese, Chinese, …). WebKit says so by the code alone. */
export function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === 229
}
