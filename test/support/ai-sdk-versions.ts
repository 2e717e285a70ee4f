import * as v7 from 'ai'
import * as v5 from 'ai-v5'
import * as v6 from 'ai-v6'

/** A part of a message, as far as tests look into it. */
interface ShownPart {
  type: string
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
