/** Where the browser keeps what was chosen. */
export const settingsKey = 'phi-playground-settings'
