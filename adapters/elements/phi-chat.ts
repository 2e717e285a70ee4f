import { type ClientTools, type RemoteSession, remoteSession, runClientTools } from '../../src/client.ts'
import type { DataPart } from '../../src/contract/message/data-part.ts'
import { type Chat, type ChatSource, chatOf, createChat, smoothText } from '../../src/store.ts'
import { type ChatOwner, ElementBase } from './chat-element.ts'
import { arrange, make } from './dom.ts'
import { english, type PhiChat, type Words } from './phi-chat-options.ts'

/**
 * The element `<phi-chat>`: message list, pending approvals and composer. Only this element has a shadow tree, so `phi-chat::part(…)` can
 * style all parts.
 */
export class PhiChatElement extends ElementBase implements PhiChat, ChatOwner {
  static readonly observedAttributes = ['endpoint', 'session', 'smooth']
  readonly #watchers = new Set<() => void>()
  readonly #log = make('div', 'log', { role: 'log', tabindex: '0' })
  readonly #list = make('ol', 'messages')
  #agent: ChatSource | undefined
  #words: Partial<Words> = {}
  #tools: ClientTools | undefined
  #apps: PhiChat['apps']
  #stopTools: (() => void) | undefined
  #chat: Chat | undefined
  /** The `smooth` attribute of the current chat. */
  #smooth: string | null = null
  #stop: (() => void) | undefined
  #shown: readonly string[] = []
  /** Data parts that listeners have received. */
  #data: readonly DataPart[] = []

  constructor() {
    super()
    const empty = make('slot', '', { name: 'empty' })
    const composer = make('slot', '', { name: 'composer' })
    composer.append(document.createElement('phi-composer'))
    this.#log.append(empty, this.#list)
    this.attachShadow({ mode: 'open' }).append(
      make('slot', '', { name: 'header' }),
      this.#log,
      composer,
      make('slot', '', { name: 'footer' }),
    )
  }

  get agent(): ChatSource | undefined {
    return this.#agent
  }

  set agent(agent: ChatSource | undefined) {
    this.#agent = agent
    if (this.isConnected) this.#begin()
  }

  get tools(): ClientTools | undefined {
    return this.#tools
  }

  set tools(tools: ClientTools | undefined) {
    this.#tools = tools
    this.#runTools()
  }

  get words(): Partial<Words> {
    return this.#words
  }

  set words(words: Partial<Words>) {
    this.#words = words
    this.#rebuild()
  }

  get apps(): PhiChat['apps'] {
    return this.#apps
  }

  set apps(apps: PhiChat['apps']) {
    this.#apps = apps
    this.#rebuild()
  }

  get chat(): Chat | undefined {
    return this.#chat
  }

  get labels(): Words {
    return { ...english, ...this.#words }
  }

  watch(look: () => void): () => void {
    this.#watchers.add(look)
    return () => this.#watchers.delete(look)
  }

  connectedCallback(): void {
    // Properties set before the element was defined shadow the accessors, so they are set again.
    for (const name of ['tools', 'agent', 'words', 'apps'] as const) {
      if (!Object.hasOwn(this, name)) continue
      const early = { [name]: this[name] }
      Reflect.deleteProperty(this, name)
      Object.assign(this, early)
    }
    this.#begin()
  }

  disconnectedCallback(): void {
    this.#stop?.()
    this.#stop = undefined
    this.#stopTools?.()
    this.#stopTools = undefined
  }

  attributeChangedCallback(name: string): void {
    if (!this.isConnected) return
    if (name === 'smooth') this.#begin()
    else if (this.#agent === undefined) this.#begin(true)
  }

  /** Rebuilds the messages: they contain the old labels and apps. */
  #rebuild(): void {
    this.#list.replaceChildren()
    this.#shown = []
    this.#look()
  }

  /** Connects to the agent or to the endpoint's session. An element that moves within the document keeps its session. */
  #begin(isElsewhere = false): void {
    this.#stop?.()
    const source = this.#source(isElsewhere)
    this.#chat = source && this.#chatOf(source)
    this.#list.replaceChildren()
    this.#shown = []
    this.#stop = this.#chat?.subscribe(() => this.#look())
    this.#runTools()
    this.#look()
  }

  #source(isElsewhere: boolean): ChatSource | undefined {
    const endpoint = this.getAttribute('endpoint')
    if (this.#agent !== undefined || endpoint === null) return this.#agent
    const known = isElsewhere ? undefined : this.#chat?.agent
    return known ?? remoteSession({ url: endpoint, sessionId: this.#sessionId(endpoint) })
  }

  /** All elements of an agent share a chat, except with `smooth`. */
  #chatOf(source: ChatSource): Chat {
    const before = this.#smooth
    this.#smooth = this.getAttribute('smooth')
    if (this.#smooth === null || 'getSnapshot' in source) return chatOf(source)
    if (this.#chat?.agent === source && this.#smooth === before) return this.#chat
    return createChat(source, { smooth: smoothText(this.#smooth === 'line' ? 'line' : 'word') })
  }

  /** Runs the client tools for the current agent. */
  #runTools(): void {
    this.#stopTools?.()
    this.#stopTools = undefined
    const agent = this.#chat?.agent
    if (this.#tools === undefined || agent === undefined || !this.isConnected) return
    this.#stopTools = isRemote(agent) ? agent.tools(this.#tools) : runClientTools(agent, this.#tools)
  }

  #sessionId(endpoint: string): string {
    const given = this.getAttribute('session')
    if (given !== null) return given
    const key = `phi-chat ${endpoint}`
    const fresh = crypto.randomUUID()
    try {
      const kept = sessionStorage.getItem(key) ?? fresh
      sessionStorage.setItem(key, kept)
      return kept
    } catch {
      // Without storage, a reload starts a new conversation.
      return fresh
    }
  }

  #look(): void {
    const state = this.#chat?.getSnapshot()
    this.#log.setAttribute('aria-label', this.labels.conversation)
    if (state !== undefined) {
      this.setAttribute('status', state.status)
      this.#log.setAttribute('aria-busy', String(state.status === 'running' || state.status === 'loading'))
      if (this.#shown !== state.messageIds) this.#arrange(state)
    }
    for (const look of [...this.#watchers]) look()
    this.#reportData(state?.run.data ?? [])
  }

  /** Extension messages are only in `phi-data`. */
  #arrange({ messages, messageIds }: ReturnType<Chat['getSnapshot']>): void {
    this.#shown = messageIds
    const spoken = messages.flatMap(({ id, role }) => (role === 'extension' ? [] : [id]))
    arrange(this.#list, spoken, (id) => make('li', 'item', {}, messageElement(id)))
    this.#log.firstElementChild?.toggleAttribute('hidden', spoken.length > 0)
  }

  /** Dispatches `phi-data` for each new or changed data part; `detail` is the part. */
  #reportData(parts: readonly DataPart[]): void {
    const known = this.#data
    this.#data = parts
    if (parts === known) return
    for (const detail of parts)
      if (!known.includes(detail)) this.dispatchEvent(new CustomEvent('phi-data', { detail, bubbles: true, composed: true }))
  }
}

function isRemote(agent: object): agent is RemoteSession {
  return 'tools' in agent && typeof agent.tools === 'function'
}

function messageElement(id: string): HTMLElement {
  const element = document.createElement('phi-message')
  element.setAttribute('message', id)
  return element
}
