import { useSignal } from '@preact/signals'
import { plural } from '../parts/figures.ts'
import { IconButton } from '../parts/icon-button.tsx'
import { Check, Field } from '../settings/fields.tsx'
import { type McpServerChoice, mostServers } from '../settings/settings.ts'
import { addressRefusal } from './mcp-address.ts'
import { McpLogin } from './mcp-login.tsx'
import type { McpOffer } from './mcp-servers.ts'

interface McpFieldsProps {
  servers: readonly McpServerChoice[]
  onChange: (servers: readonly McpServerChoice[]) => void
}

/** Shows each MCP server by URL, with its tools or the connection error, and a switch that offers its tools to agents. */
export function McpFields({ servers, onChange }: McpFieldsProps) {
  const address = useSignal('')
  const refusal = useSignal('')
  const offers = useSignal<Readonly<Record<string, McpOffer | 'asking'>>>({})
  const other = (one: McpServerChoice) => servers.filter((server) => server !== one)

  async function ask(asked: string): Promise<void> {
    offers.value = { ...offers.value, [asked]: 'asking' }
    const { mcpOffer } = await import('./mcp-servers.ts')
    const offer = await mcpOffer(asked)
    offers.value = { ...offers.value, [asked]: offer }
  }

  function add(): void {
    const given = address.value.trim()
    refusal.value = addressRefusal(given) ?? doubt(given, servers)
    if (refusal.value !== '') return
    onChange([...servers, { address: given, isOn: true }])
    address.value = ''
    void ask(given)
  }

  return (
    <>
      <div class="model-name-field">
        <Field label="MCP server" hint="Streamable HTTP URL on this machine. The server must allow this origin (CORS).">
          <input
            type="url"
            spellcheck={false}
            placeholder="http://localhost:3000/mcp"
            value={address.value}
            onInput={({ currentTarget }) => (address.value = currentTarget.value)}
          />
        </Field>
        <button type="button" class="small" onClick={add}>
          Add server
        </button>
      </div>
      {refusal.value !== '' && (
        <p class="risk" role="alert">
          {refusal.value}
        </p>
      )}
      <ul class="mcp-servers">
        {servers.map((server) => (
          <li key={server.address} data-testid="mcp-server">
            <Check
              label={server.address}
              isOn={server.isOn}
              onChange={(isOn) => onChange(servers.map((each) => (each === server ? { ...server, isOn } : each)))}
            />
            <button
              type="button"
              class="small"
              disabled={offers.value[server.address] === 'asking'}
              onClick={() => void ask(server.address)}
            >
              List tools
            </button>
            <IconButton icon="trash" label={`Remove ${server.address}`} onClick={() => onChange(other(server))} />
            <p class="field-hint" role="status">
              {offerText(offers.value[server.address])}
            </p>
            {wantsLogin(offers.value[server.address]) && <McpLogin address={server.address} onDone={() => void ask(server.address)} />}
          </li>
        ))}
      </ul>
    </>
  )
}

function doubt(address: string, servers: readonly McpServerChoice[]): string {
  if (servers.some((server) => server.address === address)) return 'This server is already in the list.'
  return servers.length >= mostServers ? `The list can have ${mostServers} servers. Remove one first.` : ''
}

const wantsLogin = (offer: McpOffer | 'asking' | undefined) =>
  offer !== undefined && offer !== 'asking' && !offer.isThere && offer.wantsLogin

function offerText(offer: McpOffer | 'asking' | undefined): string {
  if (offer === undefined) return ''
  if (offer === 'asking') return 'Asking…'
  return offer.isThere ? `${plural(offer.tools.length, 'tool')}: ${offer.tools.join(', ')}` : `Unavailable: ${offer.why}`
}
