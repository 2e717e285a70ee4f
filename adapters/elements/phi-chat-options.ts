import type { ClientTools } from '../../src/client.ts'
import type { ChatSource } from '../../src/store.ts'
import type { McpAppServer } from '../mcp/apps/index.ts'

/** The labels of the elements, for translation. */
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
  /** The button that shows the arguments of a call as an editable field. */
  edit: string
  /** The label of that field. */
  arguments: string
  /** Shown if the field does not contain a JSON object. */
  notAnObject: string
  decline: string
  takeBack: string
  /** The label of the model list. */
  choice: string
  /** The label of the file input. */
  files: string
  /** Shown in place of content that cannot be rendered, such as audio. */
  hidden: string
  /** Shown before the name of an app of an MCP server. */
  app: string
  /** Shown before the tool that an app wants to call. */
  appCalls: string
  /** Shown before the URL that an app wants to open. */
  appOpens: string
  /** Shown before the domains that an app may use. */
  appConnects: string
}

/** The default labels. */
export const english: Words = {
  conversation: 'Conversation',
  message: 'Message',
  send: 'Send',
  stop: 'Stop',
  you: 'You',
  model: 'Assistant',
  thinking: 'Thinking',
  allow: 'Allow',
  refuse: 'Deny',
  edit: 'Edit',
  arguments: 'Arguments',
  notAnObject: 'Enter a JSON object.',
  decline: 'Decline',
  takeBack: 'Remove from queue',
  choice: 'Model',
  files: 'Files',
  hidden: 'cannot be shown',
  app: 'App',
  appCalls: 'The app wants to call',
  appOpens: 'The app wants to open',
  appConnects: 'The app may connect to',
}

/**
 * The properties of `<phi-chat>`.
 *
 * **Attributes**
 * - `endpoint`: the URL of `createAgentApp`.
 * - `session`: the session id. Default: one id per browser tab, stored in `sessionStorage`.
 * - `models`: space-separated names of models that the server accepts per message. The first is the agent's own model.
 * - `smooth`: `word` or `line`: streamed text appears at an even pace, as with `smoothText`. Default: as it arrives.
 * - `files`: accepted file types, such as `image/*`. Without it, messages have no files.
 * - `app-page`: the `page` option of `mountMcpApp`, for apps on pages with a strict Content Security Policy.
 *
 * Source: docs/guides/frameworks.md
 */
export interface PhiChat {
  /** A local agent, or a `remoteSession` with your own headers. Replaces `endpoint`. */
  agent: ChatSource | undefined
  /** Labels that replace the English defaults. */
  words: Partial<Words>
  /** Client tools that run in this browser tab, by name. */
  tools: ClientTools | undefined
  /** Returns the MCP App of a tool, such as `(name) => tools.app(name)`. Default: tool calls show no apps. */
  apps: ((toolName: string) => McpAppServer | undefined) | undefined
}
