import type { ChildProcess } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type DrivenBrowser,
  type DrivenContext,
  type DrivenTab,
  firstMatch,
  type Json,
  Processes,
  startTimeoutMs,
  startTwice,
} from './driver.ts'
import { freePort } from './free-port.ts'
import { clickActions, keyActions } from './input.ts'

/** The programs of one WebKitGTK. */
export interface WebKitPrograms {
  driver: string
  /** WebKit's own small browser, the one its driver is made for. */
  miniBrowser: string
  /** The screen that a window needs. */
  xvfb: string
  /** How long the browser of a session may take to come up, in milliseconds. Default: `startTimeoutMs`. */
  sessionTimeoutMs?: number
}

type Ask = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: Json, signal?: AbortSignal) => Promise<unknown>

/** Starts WebKitGTK, Safari's engine, as Debian has it, on a screen that nobody sees, and speaks WebDriver with it. */
export async function startWebKit(programs: WebKitPrograms): Promise<DrivenBrowser> {
  const processes = new Processes()
  try {
    const screen = processes.spawn(programs.xvfb, ['-displayfd', '3', '-screen', '0', '1400x1000x24', '-nolisten', 'tcp'])
    for (const stream of [screen.stdout, screen.stderr]) stream?.resume()
    const display = await firstMatch(screen, screen.stdio[3] as NodeJS.ReadableStream, /(\d+)\n/) // opened for reading by spawn()
    const sessions = new Sessions(programs, processes, environment(display))
    const { ask, session, version } = await sessions.begin()
    await ask('DELETE', session)
    return { version, newContext: async () => newContext(await sessions.begin()), close: () => processes.close() }
  } catch (error) {
    await processes.close()
    throw error
  }
}

function environment(display: string): Record<string, string> {
  return {
    DISPLAY: `:${display}`,
    // WebKit's sandbox cannot be set up by root; what it would guard against, these tests do not load.
    ...(process.getuid?.() === 0 && { WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1' }),
    // Without these GTK starts a message bus, which outlives it.
    DBUS_SESSION_BUS_ADDRESS: 'disabled:',
    GSETTINGS_BACKEND: 'memory',
    NO_AT_BRIDGE: '1',
  }
}

/** Commands of W3C WebDriver. Source: https://www.w3.org/TR/webdriver2/ */
function client(address: string): Ask {
  return async (method, path, body, signal) => {
    const sent = method === 'POST' && { body: JSON.stringify(body ?? {}) }
    const response = await fetch(`${address}${path}`, { method, ...sent, ...(signal && { signal }) })
    const { value }: { value: unknown } = JSON.parse(await response.text())
    if (!response.ok) throw new Error(`${path.replace(/^\/session\/[^/]+/, '')}: ${JSON.stringify(value)}`)
    return value
  }
}

async function ready(driver: ChildProcess, ask: Ask): Promise<void> {
  const until = performance.now() + startTimeoutMs
  for (;;) {
    try {
      await ask('GET', '/status')
      return
    } catch (error) {
      if (driver.exitCode !== null) throw new Error(`WebKitWebDriver exited with ${driver.exitCode}.`, { cause: error })
      if (performance.now() > until) throw new Error(`WebKitWebDriver did not answer within ${startTimeoutMs / 1000} s.`, { cause: error })
    }
    await delay(50)
  }
}

/** A session of WebDriver, which has a browser of its own. */
interface StartedSession {
  ask: Ask
  /** How the paths of its commands begin. */
  session: string
  version: string
}

/**
 * Begins sessions, one at a time, as WebKitWebDriver has them. A driver whose browser does not come up answers no other session either: it ends,
 * and the second try has another driver.
 */
class Sessions {
  readonly #programs: WebKitPrograms
  readonly #processes: Processes
  readonly #env: Record<string, string>
  #driver: { ask: Ask; child: ChildProcess } | undefined

  constructor(programs: WebKitPrograms, processes: Processes, env: Record<string, string>) {
    this.#programs = programs
    this.#processes = processes
    this.#env = env
  }

  begin(): Promise<StartedSession> {
    return startTwice(async () => {
      this.#driver ??= await this.#startDriver()
      const { ask, child } = this.#driver
      try {
        return await newSession(ask, this.#programs)
      } catch (error) {
        this.#driver = undefined
        await this.#processes.end(child)
        throw error
      }
    })
  }

  async #startDriver(): Promise<{ ask: Ask; child: ChildProcess }> {
    const port = await freePort()
    const child = this.#processes.spawn(this.#programs.driver, ['--host=127.0.0.1', `--port=${port}`], this.#env)
    for (const stream of [child.stdout, child.stderr]) stream?.resume()
    const ask = client(`http://127.0.0.1:${port}`)
    await ready(child, ask)
    return { ask, child }
  }
}

async function newSession(ask: Ask, { miniBrowser, sessionTimeoutMs = startTimeoutMs }: WebKitPrograms): Promise<StartedSession> {
  const options = { 'webkitgtk:browserOptions': { binary: miniBrowser, args: ['--automation'] } }
  // Each session starts a browser.
  const started = await ask('POST', '/session', { capabilities: { alwaysMatch: options } }, AbortSignal.timeout(sessionTimeoutMs))
  const { sessionId, capabilities } = started as { sessionId: string; capabilities: { browserVersion: string } }
  return { ask, session: `/session/${sessionId}`, version: `WebKitGTK ${capabilities.browserVersion}` }
}

/** Each context is a session, because sessions share nothing. */
async function newContext({ ask, session }: StartedSession): Promise<DrivenContext> {
  const first = (await ask('GET', `${session}/window`)) as string
  let current = first
  let isFirstTaken = false
  let last: Promise<unknown> = Promise.resolve()

  /** One command at a time, each after the switch to the window it is meant for. */
  function askIn(handle: string): Ask {
    return (method, path, body) => {
      const answer = last.then(async () => {
        if (current !== handle) await ask('POST', `${session}/window`, { handle })
        current = handle
        return ask(method, `${session}${path}`, body)
      })
      last = answer.catch(() => undefined)
      return answer
    }
  }

  return {
    async newTab() {
      if (!isFirstTaken) {
        isFirstTaken = true
        return newTab(askIn(first))
      }
      // A window of its own: the timers of a tab behind another one are slowed down.
      const { handle } = (await askIn(current)('POST', '/window/new', { type: 'window' })) as { handle: string }
      return newTab(askIn(handle))
    },
    close: async () => void (await ask('DELETE', session)),
  }
}

const inPage = `const [json, done] = arguments
const fail = (error) => done(JSON.stringify({ error: String(error) }))
try { Promise.resolve(SOURCE(...JSON.parse(json))).then((value) => done(JSON.stringify({ value })), fail) } catch (error) { fail(error) }`

function newTab(ask: Ask): DrivenTab {
  const evaluate: DrivenTab['evaluate'] = async (source, args = []) => {
    // The source stands in the script and is no argument: the page's Content-Security-Policy forbids eval.
    const script = inPage.replace('SOURCE', () => `(${source})`)
    const json = (await ask('POST', '/execute/async', { script, args: [JSON.stringify(args)] })) as string
    const { value, error }: { value?: unknown; error?: string } = JSON.parse(json)
    if (error !== undefined) throw new Error(error)
    return value
  }
  const act = async (actions: Json) => void (await ask('POST', '/actions', { actions }))
  return {
    goto: async (url) => void (await ask('POST', '/url', { url })),
    reload: async () => void (await ask('POST', '/refresh')),
    goBack: async () => void (await ask('POST', '/back')),
    evaluate,
    click: (x, y) => act(clickActions(x, y)),
    type: (keys) => act(keyActions(keys)),
    async setViewportSize(width, height) {
      const [frameX, frameY] = (await evaluate('() => [outerWidth - innerWidth, outerHeight - innerHeight]')) as [number, number]
      await ask('POST', '/window/rect', { width: width + frameX, height: height + frameY })
    },
    screenshot: async () => Buffer.from((await ask('GET', '/screenshot')) as string, 'base64'),
  }
}
