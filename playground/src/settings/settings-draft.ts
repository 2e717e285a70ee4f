import { signal } from '@preact/signals'
import { snippetsFrom, type ToolSnippet } from '../tools/own/snippets.ts'
import { settingsFrom } from './parse-settings.ts'
import type { Settings } from './settings.ts'
import { keepChanges, keptChanges } from './unapplied.ts'

/** Unapplied changes, restored when the dialog is opened again, even after a reload. */
export interface SettingsDraft {
  settings?: Settings
  snippets?: readonly ToolSnippet[]
}

export const draft = signal<SettingsDraft>(readKept())

draft.subscribe((changes) => keepChanges(Object.keys(changes).length === 0 ? undefined : JSON.stringify(changes)))

/** The text is untrusted, and may come from another version. */
function readKept(): SettingsDraft {
  try {
    const { settings, snippets } = Object(JSON.parse(keptChanges() ?? '{}'))
    return {
      ...(settings !== undefined && { settings: settingsFrom(settings) }),
      ...(snippets !== undefined && { snippets: snippetsFrom(snippets) }),
    }
  } catch {
    return {}
  }
}
