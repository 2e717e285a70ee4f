import { Icon } from '../parts/icon.tsx'
import type { LostConnection } from '../remote/connection.ts'
import { endpoint } from '../remote/endpoint.ts'

const server = endpoint === undefined ? 'The server' : 'phi'

const texts: Readonly<Record<LostConnection, string>> = {
  Reconnecting: `${server} does not respond. Its run continues if ${server} is still running. You see what arrived so far.`,
  'Not connected': `${server} did not respond. Restart it if it has stopped, then send your message again or reload this page.`,
}

/** Reports that the conversation's server is unreachable. */
export function ConnectionNotice({ connection }: { connection: LostConnection }) {
  return (
    <p class="retry" data-testid="connection">
      {connection === 'Reconnecting' && <Icon name="spinner" class="spinner" />}
      <strong>{connection}</strong>
      <span>{texts[connection]}</span>
    </p>
  )
}
