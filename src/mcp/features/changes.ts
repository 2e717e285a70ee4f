import { errorText } from '../../contract/errors.ts'
import { oneLine } from '../call-result.ts'
import type { McpClientLike } from '../client-like.ts'
import { ask, need, type RequestSetting } from './requests.ts'
import { checkUri } from './resources.ts'

/** The lists whose changes a server reports, other than its tool list. */
export type ChangedList = 'resources' | 'prompts'

/** Logs a failure that no caller is waiting for. */
type Warn = (event: string, fields: { error: string }) => void

/** The listeners for one URI, and whether the server knows the subscription. */
interface Watch {
  readonly listeners: Set<{ act: (uri: string) => void; warn: Warn }>
  readonly setting: RequestSetting
  isSubscribed: boolean
  /** Requests for one URI are serialized, so that the server ends in the state of the last request. */
  work: Promise<void>
}

const ofClient = new WeakMap<McpClientLike, ServerChanges>()

/** Returns a client's change listeners. All tool sets of the client share them. */
export function changesOf(client: McpClientLike): ServerChanges {
  const known = ofClient.get(client) ?? new ServerChanges(client)
  ofClient.set(client, known)
  return known
}

/**
 * The resource subscriptions of one client.
 *
 * **Contract**
 * - Subscribes with the first listener of a URI, and unsubscribes with the last.
 * - After a reconnect, the server gets all subscriptions again, and the listeners run because an update may have been lost.
 * - Closing the connection ends all subscriptions at the server. `forget` removes the listeners.
 */
class ServerChanges {
  readonly #watches = new Map<string, Watch>()
  readonly #lists = new Set<{ act: (list: ChangedList) => void; warn: Warn }>()

  constructor(client: McpClientLike) {
    const before = client.fallbackNotificationHandler
    const onNotification: typeof before = async (notification) => {
      this.#notified(notification)
      await before?.call(client, notification)
    }
    client.fallbackNotificationHandler = onNotification
    const reconnected = client.onReconnected
    const onReconnected = () => {
      reconnected?.call(client)
      this.#subscribeAgain()
    }
    client.onReconnected = onReconnected
  }

  /** Calls `act` when the resource changes. Rejects if the server does not support it. Returns a function that unsubscribes. */
  async watch(setting: RequestSetting, uri: string, act: (uri: string) => void, warn: Warn): Promise<() => void> {
    checkUri(uri)
    need(setting, 'resources', 'subscribe')
    const watch = this.#watches.get(uri) ?? { listeners: new Set(), setting, isSubscribed: false, work: Promise.resolve() }
    this.#watches.set(uri, watch)
    const listener = { act, warn }
    watch.listeners.add(listener)
    try {
      await this.#settle(uri, watch)
    } catch (error) {
      watch.listeners.delete(listener)
      if (watch.listeners.size === 0) this.#watches.delete(uri)
      throw error
    }
    return () => {
      if (!watch.listeners.delete(listener)) return
      this.#settle(uri, watch).catch((error) => warn('mcpUnsubscribeFailed', { error: oneLine(errorText(error), 500) }))
    }
  }

  /** Calls `act` when a list changes. Returns a function that unsubscribes. */
  watchLists(act: (list: ChangedList) => void, warn: Warn): () => void {
    const listener = { act, warn }
    this.#lists.add(listener)
    return () => void this.#lists.delete(listener)
  }

  /** Removes all listeners, for a closed client. */
  forget(): void {
    for (const { listeners } of this.#watches.values()) listeners.clear()
    this.#watches.clear()
    this.#lists.clear()
  }

  /** Subscribes or unsubscribes at the server according to the listeners, if necessary. */
  #settle(uri: string, watch: Watch): Promise<void> {
    const step = async () => {
      const isWanted = watch.listeners.size > 0
      if (isWanted === watch.isSubscribed || this.#watches.get(uri) !== watch) return
      watch.isSubscribed = isWanted
      try {
        await ask(watch.setting, { method: isWanted ? 'resources/subscribe' : 'resources/unsubscribe', params: { uri } })
      } catch (error) {
        watch.isSubscribed = false
        throw error
      } finally {
        if (watch.listeners.size === 0) this.#watches.delete(uri)
      }
    }
    watch.work = watch.work.then(step, step)
    return watch.work
  }

  #subscribeAgain(): void {
    for (const [uri, watch] of this.#watches) {
      watch.isSubscribed = false
      const [first] = watch.listeners
      this.#settle(uri, watch).then(
        () => this.#tell(watch, uri),
        (error) => first?.warn('mcpResubscribeFailed', { error: oneLine(errorText(error), 500) }),
      )
    }
    for (const list of ['resources', 'prompts'] as const) this.#listChanged(list)
  }

  #notified(notification: { method: string }): void {
    if (notification.method === 'notifications/resources/list_changed') this.#listChanged('resources')
    else if (notification.method === 'notifications/prompts/list_changed') this.#listChanged('prompts')
    else if (notification.method === 'notifications/resources/updated') {
      const { uri }: Record<string, unknown> = Object(Object(notification).params)
      if (typeof uri !== 'string') return
      // An update may concern only a part of the resource.
      for (const [watched, watch] of this.#watches)
        if (uri === watched || uri.startsWith(`${watched.replace(/\/$/, '')}/`)) this.#tell(watch, watched)
    }
  }

  #tell({ listeners }: Watch, uri: string): void {
    for (const listener of listeners) guarded(listener, uri)
  }

  #listChanged(list: ChangedList): void {
    for (const listener of this.#lists) guarded(listener, list)
  }
}

function guarded<Value>({ act, warn }: { act: (value: Value) => void; warn: Warn }, value: Value): void {
  try {
    act(value)
  } catch (error) {
    warn('mcpListenerFailed', { error: errorText(error) })
  }
}
