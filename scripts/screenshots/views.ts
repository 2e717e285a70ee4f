import type { View } from './view.ts'
import { conversation } from './views/conversation.ts'
import { dialogs, troubles } from './views/dialogs.ts'
import { inspector, sessions } from './views/panes.ts'

const opening: View = { name: 'opening', make: async () => undefined }

/** Everything that docs/playground.md says is to be seen. */
export const views: readonly View[] = [opening, ...conversation, ...inspector, ...sessions, ...dialogs, ...troubles]
