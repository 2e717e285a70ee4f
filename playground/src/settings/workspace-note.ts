import { signal } from '@preact/signals'

/** Where the agent's files are; empty until somebody has looked. */
export const workspaceNote = signal('')
