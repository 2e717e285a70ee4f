import type { ClientTools } from '../../src/client.ts'
import type { ChatSource } from '../../src/store.ts'

/** What the elements say, in the words of the page. */
export interface Words {
  conversation: string
  message: string
  send: string
  stop: string
  you: string
  model: string
  thinking: string
  allow: string
  refuse: string
  decline: string
  takeBack: string
  /** Names the list of models, and the place for files. */
  choice: string
  files: string
  /** What stands in place of something that cannot be shown, such as a sound. */
  hidden: string
}

/** In English. */
export const english: Words = {
  conversation: 'Conversation',
  message: 'Message',
  send: 'Send',
  stop: 'Stop',
  you: 'You',
  model: 'Assistant',
  thinking: 'Thinking',
  allow: 'Allow',
  refuse: 'Refuse',
  decline: 'Decline',
  takeBack: 'Take back',
  choice: 'Model',
  files: 'Picture',
  hidden: 'not shown here',
}

/**
 * What `<phi-chat>` has beside what every element has. Its attributes are `endpoint`, where `createAgentApp` is mounted, and `session`, an id; without one the
 * tab keeps its own. `models` names the models that the server lets a message choose, the first is the agent's own; `files` says which files go along, such as `image/*`.
 *
 * Source: docs/guides/frameworks.md
 */
export interface PhiChat {
  /** An agent in the page, or a session with headers of your own, in place of an endpoint. */
  agent: ChatSource | undefined
  /** What it says in place of its English. */
  words: Partial<Words>
  /** What the agent can have done in this page: its tools of pages, by name. */
  tools: ClientTools | undefined
}
