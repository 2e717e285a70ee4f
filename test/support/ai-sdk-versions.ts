import * as v7 from 'ai'
import * as v5 from 'ai-v5'
import * as v6 from 'ai-v6'

/** A part of a message, as far as tests look into it. */
interface ShownPart {
  type: string
  toolCallId?: string
  output?: unknown
  text?: string
  state?: string
  approval?: { id: string }
}

/** What stands behind `useChat`, in any version. */
export interface AnyChat {
  readonly id: string
  readonly messages: { role: string; parts: ShownPart[] }[]
  readonly status: string
  readonly error: Error | undefined
  sendMessage(message: { text: string }): Promise<void>
  regenerate(): Promise<void>
  addToolApprovalResponse?(response: { id: string; approved: boolean }): unknown
}

/** The state that `useChat` keeps in React, kept in an object. */
class PlainState<Message> {
  status: 'submitted' | 'streaming' | 'ready' | 'error' = 'ready'
  error: Error | undefined = undefined
  messages: Message[] = []
  pushMessage = (message: Message): void => void this.messages.push(message)
  popMessage = (): void => void this.messages.pop()
  replaceMessage = (index: number, message: Message): void => void this.messages.splice(index, 1, structuredClone(message))
  snapshot = <Value>(value: Value): Value => structuredClone(value)
}

type Fetch = typeof globalThis.fetch

class ChatV5 extends v5.AbstractChat<v5.UIMessage> {
  constructor(api: string, id: string, fetch: Fetch) {
    super({ id, state: new PlainState<v5.UIMessage>(), transport: new v5.DefaultChatTransport({ api, fetch }) })
  }
}

class ChatV6 extends v6.AbstractChat<v6.UIMessage> {
  constructor(api: string, id: string, fetch: Fetch) {
    const sendAutomaticallyWhen = v6.lastAssistantMessageIsCompleteWithApprovalResponses
    super({ id, state: new PlainState<v6.UIMessage>(), transport: new v6.DefaultChatTransport({ api, fetch }), sendAutomaticallyWhen })
  }
}

class ChatV7 extends v7.AbstractChat<v7.UIMessage> {
  constructor(api: string, id: string, fetch: Fetch) {
    const sendAutomaticallyWhen = v7.lastAssistantMessageIsCompleteWithApprovalResponses
    super({ id, state: new PlainState<v7.UIMessage>(), transport: new v7.DefaultChatTransport({ api, fetch }), sendAutomaticallyWhen })
  }
}

/** Unmodified chats of the AI SDK, by version. */
export const chats: { readonly [version in 5 | 6 | 7]: new (api: string, id: string, fetch: Fetch) => AnyChat } = {
  5: ChatV5,
  6: ChatV6,
  7: ChatV7,
}

/** A chat whose page runs tools. */
export interface PageChat extends AnyChat {
  messages: { id: string; role: string; parts: ShownPart[] }[]
  resumeStream(): Promise<void>
  clearError(): void
  sendMessage(message: { text: string; messageId?: string }): Promise<void>
  /** `addToolOutput`, by its name of version 5. */
  addToolResult(result: { tool: string; toolCallId: string; output: string }): unknown
}

/** What a page gives its chat. */
export interface PageOptions {
  api: string
  id: string
  fetch: Fetch
  /** Runs a call of one of `tools`. What it leaves undefined, the page returns later. */
  run: (input: unknown, call: { toolName: string; toolCallId: string }) => string | undefined
  /** Default: `set_theme` alone. */
  tools?: readonly string[]
  /** Whether the page sends by itself once all calls have their results. Default true. */
  sends?: boolean
}

const pageTools = ['set_theme'] as const

class PageV5 extends v5.AbstractChat<v5.UIMessage> {
  constructor({ api, id, fetch, run, tools = pageTools, sends = true }: PageOptions) {
    const automatic = sends ? { sendAutomaticallyWhen: v5.lastAssistantMessageIsCompleteWithToolCalls } : {}
    const onToolCall: v5.ChatOnToolCallCallback = ({ toolCall: { toolName: tool, toolCallId, input } }) => {
      const output = tools.includes(tool) ? run(input, { toolName: tool, toolCallId }) : undefined
      if (output !== undefined) void this.addToolResult({ tool, toolCallId, output })
    }
    const transport = new v5.DefaultChatTransport({ api, fetch })
    super({ id, state: new PlainState<v5.UIMessage>(), transport, ...automatic, onToolCall })
  }
}

class PageV6 extends v6.AbstractChat<v6.UIMessage> {
  constructor({ api, id, fetch, run, tools = pageTools, sends = true }: PageOptions) {
    const automatic = sends ? { sendAutomaticallyWhen: v6.lastAssistantMessageIsCompleteWithToolCalls } : {}
    const onToolCall: v6.ChatOnToolCallCallback = ({ toolCall }) => {
      const { toolName: tool, toolCallId, input } = toolCall
      const output = !toolCall.dynamic && tools.includes(tool) ? run(input, { toolName: tool, toolCallId }) : undefined
      if (output !== undefined) void this.addToolOutput({ tool, toolCallId, output })
    }
    const transport = new v6.DefaultChatTransport({ api, fetch })
    super({ id, state: new PlainState<v6.UIMessage>(), transport, ...automatic, onToolCall })
  }
}

class PageV7 extends v7.AbstractChat<v7.UIMessage> {
  constructor({ api, id, fetch, run, tools = pageTools, sends = true }: PageOptions) {
    const automatic = sends ? { sendAutomaticallyWhen: v7.lastAssistantMessageIsCompleteWithToolCalls } : {}
    const onToolCall: v7.ChatOnToolCallCallback = ({ toolCall }) => {
      const { toolName: tool, toolCallId, input } = toolCall
      const output = !toolCall.dynamic && tools.includes(tool) ? run(input, { toolName: tool, toolCallId }) : undefined
      if (output !== undefined) void this.addToolOutput({ tool, toolCallId, output })
    }
    const transport = new v7.DefaultChatTransport({ api, fetch })
    super({ id, state: new PlainState<v7.UIMessage>(), transport, ...automatic, onToolCall })
  }
}

/** Unmodified chats of the AI SDK whose page runs a tool, by version. */
export const pageChats: { readonly [version in 5 | 6 | 7]: new (options: PageOptions) => PageChat } = { 5: PageV5, 6: PageV6, 7: PageV7 }
