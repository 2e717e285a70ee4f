import { copyJson } from '../../base/json/json-value.ts'
import { errorText, ToolError } from '../../contract/errors.ts'
import type { JsonObject } from '../../contract/json.ts'
import { cutText } from '../call-result.ts'
import { type CallNotification, callNotifications, type McpAppCallState, mcpResult } from './app-call-state.ts'
import type { McpAppContext, McpAppHost } from './app-host.ts'
import { type AppMessage, type AppRequest, codes, type HostMessage, type RequestId, readAppMessage } from './app-messages.ts'
import type { McpAppDomains } from './app-resource.ts'
import type { McpAppRequestOptions, McpAppServer } from './app-server.ts'
import { MessageRate } from './message-rate.ts'

/** Version of the protocol between frames and hosts. */
const protocolVersion = '2026-01-26'
/** Maximum requests that a frame can send to its server: concurrently, and in total. */
const maxRunning = 4
const maxServerRequests = 500
/**
 * Number of user denials after which the host denies all requests of a frame, and maximum messages that a frame can put into the composer.
 */
const maxDenials = 3
const maxDrafts = 20
/** Maximum app starts in one frame. Each start sends the call again, which may be large. */
const maxStarts = 10

/** What an app session needs from its host. */
export interface AppSessionParts {
  server: McpAppServer
  host: McpAppHost
  context: McpAppContext
  /** Maximum height of the frame in CSS pixels. */
  maxHeight: number
  /** Approved domains. The host reports them to the app. */
  domains: Required<McpAppDomains>
  /** Sends a message to the frame. */
  post(message: HostMessage & { jsonrpc: '2.0' }): void
  onSize(height: number): void
  /** Called once when the session ends, with the reason if the frame broke a rule. */
  onEnd(reason: string | undefined): void
}

/**
 * The session of one frame: answers its requests and shows it its tool call.
 *
 * **Contract**
 * - `receive` never throws, and does nothing after the end. It counts a message before it reads the data.
 * - The frame gets notifications only after it has sent `initialized`.
 * - After the end, every pending request of the frame aborts.
 */
export class AppSession {
  readonly #parts: AppSessionParts
  readonly #stop = new AbortController()
  readonly #rate = new MessageRate()
  #context: McpAppContext
  #call: McpAppCallState | undefined
  #notify: CallNotification | undefined
  #running = 0
  #serverRequests = 0
  #isAskingLink = false
  #denials = 0
  #drafts = 0
  #starts = 0
  #onTeardown: (() => void) | undefined

  constructor(parts: AppSessionParts) {
    this.#parts = parts
    this.#context = parts.context
  }

  receive(event: { readonly data: unknown }): void {
    if (this.#stop.signal.aborted) return
    if (this.#rate.admits()) this.#take(readAppMessage(event.data))
    else this.end('The app sent too many messages.')
  }

  #take(message: AppMessage): void {
    switch (message.kind) {
      case 'request':
        void this.#respond(message.id, message.request)
        break
      case 'refused':
        this.#refuse(message.id, message.why, message.code)
        break
      case 'initialized':
        this.#start()
        break
      case 'size':
        this.#parts.onSize(message.height)
        break
      case 'response':
        this.#onTeardown?.()
        break
      case 'tooLarge':
        this.end('The app sent a message that is too large.')
        break
      case 'ignored':
    }
  }

  /** An app that reloads itself starts again. */
  #start(): void {
    this.#starts += 1
    if (this.#starts > maxStarts) return
    this.#notify = callNotifications()
    this.#show()
  }

  /** Shows the app the current state of its tool call. */
  show(call: McpAppCallState): void {
    this.#call = call
    this.#show()
  }

  setContext(context: McpAppContext): void {
    this.#context = { ...this.#context, ...context }
    if (this.#notify !== undefined) this.#post({ method: 'ui/notifications/host-context-changed', params: { ...context } })
  }

  /** Tells the app that its frame is about to be removed. Resolves when it has answered; at once if it has not started. */
  teardown(): Promise<void> {
    if (this.#notify === undefined || this.#stop.signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      this.#onTeardown = resolve
      this.#post({ id: 'teardown', method: 'ui/resource-teardown', params: {} })
    })
  }

  end(reason?: string): void {
    if (this.#stop.signal.aborted) return
    this.#stop.abort(new ToolError('cancelled', 'The app was closed.'))
    this.#parts.onEnd(reason)
  }

  #show(): void {
    if (this.#call === undefined || this.#notify === undefined) return
    for (const message of this.#notify(this.#call)) this.#post(message)
  }

  #post(message: HostMessage): void {
    if (!this.#stop.signal.aborted) this.#parts.post({ jsonrpc: '2.0', ...message })
  }

  async #respond(id: RequestId, request: AppRequest): Promise<void> {
    try {
      const result = await this.#resultOf(request)
      if (result === undefined) this.#refuse(id, `This host does not support ${request.method}.`, codes.unknownMethod)
      else this.#post({ id, result })
    } catch (error) {
      this.#refuse(id, cutText(errorText(error), 2000))
    }
  }

  #refuse(id: RequestId, message: string, code: number = codes.refused): void {
    this.#post({ id, error: { code, message } })
  }

  /** Returns the result of a request; `undefined` if the host does not support it. Throws to refuse it. */
  async #resultOf(request: AppRequest): Promise<JsonObject | undefined> {
    const { host } = this.#parts
    switch (request.method) {
      case 'ui/initialize':
        return this.#initialize()
      case 'ping':
        return {}
      case 'ui/request-display-mode':
        return { mode: 'inline' }
      case 'ui/message':
        return host.draft && this.#draft(request.text)
      case 'ui/update-model-context':
        host.updateContext?.(request.text)
        return host.updateContext && {}
      case 'ui/open-link':
        return host.openLink && this.#openLink(request.url)
      case 'tools/call':
        return this.#onServer(async (options) => mcpResult(await this.#parts.server.call(request.name, request.args, options)))
      case 'resources/read':
        return this.#onServer(async (options) => ({ contents: await this.#parts.server.readResource(request.uri, options) }))
    }
  }

  async #onServer(ask: (options: McpAppRequestOptions) => Promise<JsonObject>): Promise<JsonObject> {
    if (this.#running >= maxRunning) throw new ToolError('failed', `More than ${maxRunning} calls are running.`)
    if (this.#serverRequests >= maxServerRequests) throw new ToolError('failed', `The app has used its ${maxServerRequests} calls.`)
    this.#running += 1
    this.#serverRequests += 1
    try {
      return await ask({ signal: this.#stop.signal, approve: (call, signal) => this.#user((host) => host.approve?.(call, signal)) })
    } finally {
      this.#running -= 1
    }
  }

  #draft(text: string): JsonObject {
    if (this.#drafts >= maxDrafts) throw new ToolError('failed', `The app has sent its ${maxDrafts} messages.`)
    this.#drafts += 1
    this.#parts.host.draft?.(text)
    return {}
  }

  /** Prompts the user. Only `true` allows the request. After several denials, denies without a prompt. */
  async #user(ask: (host: McpAppHost) => boolean | undefined | Promise<boolean>): Promise<boolean> {
    if (this.#denials >= maxDenials) return false
    const isAllowed = (await ask(this.#parts.host)) === true
    if (!isAllowed) this.#denials += 1
    return isAllowed
  }

  async #openLink(url: string): Promise<JsonObject> {
    if (this.#isAskingLink)
      throw new ToolError('failed', 'Cannot open the link: the user has not answered the prompt for another link. Try again later.')
    this.#isAskingLink = true
    try {
      const isOpened = await this.#user((host) => host.openLink?.(url, this.#stop.signal))
      if (!isOpened) throw new ToolError('failed', 'The user did not open the link.')
      return {}
    } finally {
      this.#isAskingLink = false
    }
  }

  #initialize(): JsonObject {
    const { host, server, domains, maxHeight } = this.#parts
    const { name, title, description, inputSchema = { type: 'object' } } = server.tool
    const hostCapabilities = {
      ...{ serverTools: {}, serverResources: {}, sandbox: { permissions: {}, csp: copyJson(domains) } },
      ...(host.openLink && { openLinks: {} }),
      ...(host.draft && { message: { text: {} } }),
      ...(host.updateContext && { updateModelContext: { text: {}, structuredContent: {} } }),
    }
    const tool = { name, inputSchema, ...(title !== undefined && { title }), ...(description !== undefined && { description }) }
    const place = { displayMode: 'inline', availableDisplayModes: ['inline'], platform: 'web', containerDimensions: { maxHeight } }
    const hostContext = { ...place, ...this.#context, toolInfo: { tool } }
    // Its parts are JSON: the tool came from the server as JSON.
    return { protocolVersion, hostInfo: { name: 'phi-core', version: '0.1.0' }, hostCapabilities, hostContext } as unknown as JsonObject
  }
}
