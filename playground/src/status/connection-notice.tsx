import { Icon } from '../parts/icon.tsx'
import type { Connection } from '../remote/connection.ts'
import { endpoint } from '../remote/endpoint.ts'
import { connectionWords } from '../state/log/run-words.ts'

const server = endpoint === undefined ? 'The server' : 'phi'

const texts: Readonly<Partial<Record<Connection, string>>> = {
  retrying: `${server} does not respond. What runs there goes on if ${server} does; what came so far is shown.`,
  lost: `${server} did not respond. Start it again if it has ended, then send your message again or reload this page.`,
}

/** Says that the server of the conversation is not reached. */
export function ConnectionNotice({ connection }: { connection: Connection }) {
  const text = texts[connection]
  if (text === undefined) return null
  return (
    <p class="retry" data-testid="connection">
      {connection === 'retrying' && <Icon name="spinner" class="spinner" />}
      <strong>{connectionWords[connection]}</strong>
      <span>{text}</span>
    </p>
  )
}
