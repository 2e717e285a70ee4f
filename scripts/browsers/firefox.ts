import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BidiConnection, connectBidi } from './bidi.ts'
import { type DrivenBrowser, type DrivenContext, type DrivenTab, firstMatch, type Json, Processes } from './driver.ts'
import { clickActions, keyActions } from './input.ts'

/** A proxy that is not there: no address but loopback can be reached, so tests stay offline. */
const preferences = `user_pref("network.proxy.type", 1);
user_pref("network.proxy.http", "127.0.0.1");
user_pref("network.proxy.http_port", 9);
user_pref("network.proxy.ssl", "127.0.0.1");
user_pref("network.proxy.ssl_port", 9);
user_pref("network.proxy.allow_hijacking_localhost", false);
`

/** Starts Firefox as Debian has it, without a window, and speaks WebDriver BiDi with it: no geckodriver. */
export async function startFirefox(binary: string): Promise<DrivenBrowser> {
  const processes = new Processes()
  try {
    const profile = join(processes.folder, 'profile')
    mkdirSync(profile)
    writeFileSync(join(profile, 'user.js'), preferences)
    const child = processes.spawn(binary, ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port=0'])
    child.stdout?.resume()
    const address = await firstMatch(child, child.stderr, /WebDriver BiDi listening on (ws:\S+)/)
    const connection = await connectBidi(`${address}/session`)
    const { capabilities } = (await connection.send('session.new', { capabilities: {} })) as { capabilities: { browserVersion: string } }
    const crash = () => processes.killBelow(/ -contentproc .* tab\s*$/)
    return {
      version: `Firefox ${capabilities.browserVersion}`,
      newContext: () => newContext(connection, crash),
      close: () => {
        connection.close()
        return processes.close()
      },
    }
  } catch (error) {
    await processes.close()
    throw error
  }
}

async function newContext(connection: BidiConnection, crash: () => Promise<void>): Promise<DrivenContext> {
  const { userContext } = (await connection.send('browser.createUserContext', {})) as { userContext: string }
  return {
    // A window of its own: the timers of a tab behind another one are slowed down.
    newTab: async () => {
      const created = (await connection.send('browsingContext.create', { type: 'window', userContext })) as { context: string }
      return newTab(connection, created.context, crash)
    },
    close: async () => void (await connection.send('browser.removeUserContext', { userContext })),
  }
}

type Evaluation = { type: 'success'; result: { type: string; value?: string } } | { type: 'exception'; exceptionDetails: { text: string } }

function newTab(connection: BidiConnection, context: string, crash: () => Promise<void>): DrivenTab {
  const send = (method: string, params: { [key: string]: Json }) => connection.send(method, { context, ...params })
  const act = async (actions: Json) => void (await send('input.performActions', { actions }))
  return {
    goto: async (url) => void (await send('browsingContext.navigate', { url, wait: 'complete' })),
    reload: async () => void (await send('browsingContext.reload', { wait: 'complete' })),
    goBack: async () => void (await send('browsingContext.traverseHistory', { delta: -1 })),
    async evaluate(source, args = []) {
      const evaluation = (await connection.send('script.callFunction', {
        functionDeclaration: `async (args) => JSON.stringify(await (${source})(...JSON.parse(args)))`,
        arguments: [{ type: 'string', value: JSON.stringify(args) }],
        target: { context },
        awaitPromise: true,
      })) as Evaluation
      if (evaluation.type === 'exception') throw new Error(evaluation.exceptionDetails.text)
      return evaluation.result.value === undefined ? undefined : JSON.parse(evaluation.result.value)
    },
    click: (x, y) => act(clickActions(x, y)),
    type: (keys) => act(keyActions(keys)),
    setViewportSize: async (width, height) => void (await send('browsingContext.setViewport', { viewport: { width, height } })),
    async screenshot() {
      const { data } = (await send('browsingContext.captureScreenshot', {})) as { data: string }
      return Buffer.from(data, 'base64')
    },
    crash,
  }
}
