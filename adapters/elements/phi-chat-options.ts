import type { ClientTools } from '../../src/client/index.ts'
import type { ChatSource } from '../../src/store/index.ts'
import type { Words } from './words.ts'

/**
 * What `<phi-chat>` has beside what every element has. Its attributes are `endpoint`, where `createAgentApp` is mounted, and `session`, an id; without one the
 * tab keeps its own. `models` names the models that the server lets a message choose, the first is the agent's own; `files` says which files go along, such as `image/*`.
 *
 * Source: docs/concepts/elements.md
 */
export interface PhiChat {
  /** An agent in the page, or a session with headers of your own, in place of an endpoint. */
  agent: ChatSource | undefined
  /** What it says in place of its English. */
  words: Partial<Words>
  /** What the agent can have done in this page: its tools of pages, by name. */
  tools: ClientTools | undefined
}
