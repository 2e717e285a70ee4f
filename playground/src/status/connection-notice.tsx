import { Icon } from '../parts/icon.tsx'
import type { LostConnection } from '../remote/connection.ts'
import { endpoint } from '../remote/endpoint.ts'

const server = endpoint === undefined ? 'The server' : 'phi'

const texts: Readonly<Record<LostConnection, string>> = {
  Reconnecting: `${server} does not respond. What runs there goes on if ${server} does; what came so far is shown.`,
  'Not connected': `${server} did not respond. Start it again if it has ended, then send your message again or reload this page.`,
}

/** Reports that the server of the conversation is unreachable. */
export function ConnectionNotice({ connection }: { connection: LostConnection }) {
  return (
    <p class="retry" data-testid="connection">
      {connection === 'Reconnecting' && <Icon name="spinner" class="spinner" />}
      <strong>{connection}</strong>
      <span>{texts[connection]}</span>
    </p>
  )
}
