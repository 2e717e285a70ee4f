import type { View } from './view.ts'
import { conversation } from './views/conversation.ts'
import { dialogs, troubles } from './views/dialogs.ts'
import { endings } from './views/endings.ts'
import { files } from './views/files.ts'
import { list } from './views/list.ts'
import { missing } from './views/missing.ts'
import { inspector, sessions } from './views/panes.ts'
import { sending } from './views/sending.ts'
import { realModels } from './views/settings.ts'

const opening: View = { name: 'opening', make: async () => undefined }

/** Everything that docs/reference/playground.md says is to be seen. */
export const views: readonly View[] = [
  ...[opening, ...conversation, ...files, ...inspector, ...sessions, ...list],
  ...[...dialogs, ...realModels, ...troubles, ...endings, ...sending, ...missing],
]
