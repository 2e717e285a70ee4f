/** The storage key of the settings. */
export const settingsKey = 'phi-playground-settings'
