/** The storage key for the settings. */
export const settingsKey = 'phi-playground-settings'
