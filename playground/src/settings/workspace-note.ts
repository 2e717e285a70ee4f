import { signal } from '@preact/signals'

/** The place of the agent's files; empty until it is known. */
export const workspaceNote = signal('')
