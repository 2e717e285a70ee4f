import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { escapeControls } from '../../../src/store.ts'
import { KeyField } from '../models/key-field.tsx'
import { errorText } from '../parts/error-text.ts'
import { tokenOwner } from './login-provider.ts'

interface McpLoginProps {
  address: string
  /** Called when a login may be available. */
  onDone: () => void
}

/** Logs in at a server that requires it, in a separate window or with a token. */
export function McpLogin({ address, onDone }: McpLoginProps) {
  const fault = useSignal('')
  const waiting = useSignal<AbortController | undefined>(undefined)
  const last = useRef(waiting)
  useEffect(() => () => last.current.value?.abort(new Error('The settings were closed.')), [])

  async function begin(): Promise<void> {
    fault.value = ''
    // Opened synchronously, because browsers open a window only in response to a click.
    const popup = window.open('about:blank', '_blank', 'popup,width=520,height=680')
    if (popup === null) {
      fault.value = 'The browser blocked the window. Allow pop-ups for this page and retry.'
      return
    }
    const stop = new AbortController()
    waiting.value = stop
    try {
      const { logIn } = await import('./log-in.ts')
      await logIn(address, popup, stop.signal)
      onDone()
    } catch (error) {
      fault.value = errorText(error)
    }
    waiting.value = undefined
  }

  return (
    <div class="mcp-login" data-testid="mcp-login">
      {waiting.value === undefined ? (
        <button type="button" class="small" onClick={() => void begin()}>
          Log in
        </button>
      ) : (
        <p role="status">
          Log in in the window that was opened.{' '}
          <button type="button" class="small" onClick={() => waiting.value?.abort(new Error('You did not log in.'))}>
            Cancel
          </button>
        </p>
      )}
      {fault.value !== '' && (
        <p class="risk" role="alert">
          {escapeControls(fault.value)}
        </p>
      )}
      <KeyField owner={tokenOwner(address)} label="Token" hint="Or enter a token. It is sent only to this server." />
      <button type="button" class="small" onClick={onDone}>
        Use the token
      </button>
    </div>
  )
}
