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
}

type Ask = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: Json) => Promise<unknown>

/** Starts WebKitGTK, Safari's engine, as Debian has it, on a screen that nobody sees, and speaks WebDriver with it. */
export async function startWebKit(programs: WebKitPrograms): Promise<DrivenBrowser> {
  const processes = new Processes()
  try {
    const screen = processes.spawn(programs.xvfb, ['-displayfd', '3', '-screen', '0', '1400x1000x24', '-nolisten', 'tcp'])
    for (const stream of [screen.stdout, screen.stderr]) stream?.resume()
    const display = await firstMatch(screen, screen.stdio[3] as NodeJS.ReadableStream, /(\d+)\n/) // opened for reading by spawn()
    const port = await freePort()
    const driver = processes.spawn(programs.driver, ['--host=127.0.0.1', `--port=${port}`], environment(display))
    for (const stream of [driver.stdout, driver.stderr]) stream?.resume()
    const ask = client(`http://127.0.0.1:${port}`)
    await ready(driver, ask)
    const version = await browserVersion(ask, programs)
    return { version, newContext: () => newContext(ask, programs), close: () => processes.close() }
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
  return async (method, path, body) => {
    const response = await fetch(`${address}${path}`, { method, ...(method === 'POST' && { body: JSON.stringify(body ?? {}) }) })
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

async function browserVersion(ask: Ask, programs: WebKitPrograms): Promise<string> {
  const { session, version } = await newSession(ask, programs)
  await ask('DELETE', session)
  return version
}

async function newSession(ask: Ask, { miniBrowser }: WebKitPrograms): Promise<{ session: string; version: string }> {
  const options = { 'webkitgtk:browserOptions': { binary: miniBrowser, args: ['--automation'] } }
  // Each session starts a browser.
  const begin = () => ask('POST', '/session', { capabilities: { alwaysMatch: options } })
  const { sessionId, capabilities } = (await startTwice(begin)) as { sessionId: string; capabilities: { browserVersion: string } }
  return { session: `/session/${sessionId}`, version: `WebKitGTK ${capabilities.browserVersion}` }
}

/** Each context is a session, because sessions share nothing. WebKitWebDriver has one at a time. */
async function newContext(ask: Ask, programs: WebKitPrograms): Promise<DrivenContext> {
  const { session } = await newSession(ask, programs)
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
      const [besideX, besideY] = (await evaluate('() => [outerWidth - innerWidth, outerHeight - innerHeight]')) as [number, number]
      await ask('POST', '/window/rect', { width: width + besideX, height: height + besideY })
    },
    screenshot: async () => Buffer.from((await ask('GET', '/screenshot')) as string, 'base64'),
  }
}
