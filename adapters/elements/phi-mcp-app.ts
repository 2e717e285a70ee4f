import { errorText } from '../../src/contract/errors.ts'
import { type Chat, escapeControls } from '../../src/store.ts'
import type { McpAppFrame, McpAppHost, McpAppServer } from '../mcp/apps/index.ts'
import { ChatElement, chatAround } from './chat-element.ts'
import { composerOf, focusComposer } from './composer-field.ts'
import { button, make } from './dom.ts'
import type { Words } from './phi-chat-options.ts'
import { callOf } from './tool-call.ts'

/** The `<phi-mcp-app>` element: shows a tool call's app and its requests to the user. */
export class PhiMcpAppElement extends ChatElement {
  #frame: McpAppFrame | undefined
  /** Aborts when the element leaves the document: browsers end a frame that moves. */
  #stop: AbortController | undefined

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.#stop?.abort()
    this.#stop = undefined
    void this.#frame?.close()
    this.#frame = undefined
    this.replaceChildren()
  }

  protected show(chat: Chat, labels: Words): void {
    const call = callOf(this, chat)
    if (call === undefined) return
    this.#frame?.update(call)
    const server = this.#stop === undefined ? chatAround(this)?.apps?.(call.toolName) : undefined
    if (server === undefined) return
    this.setAttribute('part', 'app')
    this.#stop = new AbortController()
    const { signal } = this.#stop
    this.#mount(server, chat, labels, signal).catch((error: unknown) => {
      if (!signal.aborted) this.#note('app-error', errorText(error))
    })
  }

  async #mount(server: McpAppServer, chat: Chat, labels: Words, signal: AbortSignal): Promise<void> {
    const [{ mountMcpApp }, resource] = await Promise.all([import('../mcp/apps/index.ts'), server.read({ signal })])
    if (signal.aborted) return
    const call = callOf(this, chat)
    const title = `${labels.app}: ${server.tool.title ?? server.tool.name}`
    const page = chatAround(this)?.getAttribute('app-page') ?? undefined
    const state = { ...(call !== undefined && { call }), ...(page !== undefined && { page }) }
    this.#frame = mountMcpApp(this, { server, resource, title, host: this.#host(labels), ...state })
    const { domains } = this.#frame
    if (domains.length > 0) this.#note('app-domains', `${labels.appConnects} ${domains.join(', ')}`)
  }

  #host(labels: Words): McpAppHost {
    return {
      approve: ({ label, args }, signal) => this.#ask(`${labels.appCalls} ${label}`, JSON.stringify(args, null, 2), labels, signal),
      openLink: async (url, signal) => {
        const isAllowed = await this.#ask(labels.appOpens, url, labels, signal)
        if (isAllowed) open(url, '_blank', 'noopener,noreferrer')
        return isAllowed
      },
      draft: (text) => {
        const field = composerOf(this)
        // The user's own text stays.
        if (field !== undefined) field.value = field.value === '' ? text : `${field.value}\n${text}`
      },
      onEnd: (reason) => this.#note('app-error', reason),
    }
  }

  /** Prompts the user. Resolves with `false` if the frame closes first. */
  #ask(question: string, detail: string, labels: Words, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isAllowed: boolean) => {
        asked.remove()
        resolve(isAllowed)
      }
      const decide = (isAllowed: boolean) => () => {
        focusComposer(this)
        end(isAllowed)
      }
      const asked = make(
        'div',
        'app-request',
        { role: 'group', 'aria-label': question },
        make('span', 'app-question', {}, escapeControls(question)),
        make('pre', 'app-detail', {}, escapeControls(detail)),
        button('allow', labels.allow, decide(true)),
        button('refuse', labels.refuse, decide(false)),
      )
      signal.addEventListener('abort', () => end(false), { once: true })
      this.append(asked)
    })
  }

  #note(part: string, text: string): void {
    this.append(make('p', part, {}, text))
  }
}
