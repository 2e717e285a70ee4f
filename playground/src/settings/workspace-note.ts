import { signal } from '@preact/signals'

/** Where the agent's files are stored. Empty until known. */
export const workspaceNote = signal('')
