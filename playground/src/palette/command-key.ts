/** The label of the command key on this platform. */
export const commandKey = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘' : 'Ctrl '

/** Returns whether the key opens the command palette. */
export function isCommandKey({ metaKey, ctrlKey, key }: KeyboardEvent): boolean {
  return (metaKey || ctrlKey) && key.toLowerCase() === 'k'
}
