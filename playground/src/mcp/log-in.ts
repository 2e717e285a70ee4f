import { connectMcp } from '../../../adapters/mcp/index.ts'
import { errorText } from '../parts/error-text.ts'
import { introduction, LoginProvider } from './login-provider.ts'

/** The result of a login redirect. */
interface CameBack {
  state?: string
  code?: string
  error?: string
  error_description?: string
}

/**
 * Logs the user in at the server at `address`. The login page is shown in `popup`, which a click opened, and `mcp-login.html` returns the
 * result. Rejects if the server has no login or denies it, and with the signal's reason on abort.
 */
export async function logIn(address: string, popup: Window, signal: AbortSignal): Promise<void> {
  const back = new BroadcastChannel('phi-playground-mcp-login')
  try {
    let wasShown = false
    const authProvider = new LoginProvider(address, (page) => {
      wasShown = true
      // The login page must not navigate this page.
      popup.opener = null
      popup.location.href = page.href
    })
    const came = cameBack(back, authProvider.state(), signal)
    came.catch(() => undefined) // awaited below, if at all
    const options = { ...introduction, url: address, authProvider }
    const refused = await connectMcp(options).then(
      (client) => client.close(),
      (error: unknown) => error,
    )
    if (refused === undefined) return
    if (!wasShown) throw noLogin(refused)
    const { code, error, error_description: description } = await came
    if (code === undefined) throw new Error(`The server rejected the login: ${description ?? error ?? 'no reason given.'}`)
    await (await connectMcp({ ...options, authorizationCode: code })).close()
  } finally {
    back.close()
    popup.close()
  }
}

/** Another window may log in elsewhere at the same time. `state` tells the logins apart. */
function cameBack(back: BroadcastChannel, state: string, signal: AbortSignal): Promise<CameBack> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    back.onmessage = ({ data }: MessageEvent<CameBack>) => {
      if (data.state === state) resolve(data)
    }
  })
}

function noLogin(refused: unknown): Error {
  const why = errorText(refused)
  return new Error(`The server offers no login for web pages. Enter a valid token. ${why}`)
}
