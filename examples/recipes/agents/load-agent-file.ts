import { createInterface } from 'node:readline/promises'
import type { Agent } from 'phi-core'
import { agentFromConfig, type TrustRequest, trustRequests } from 'phi-core/config'
import { loadConfigFile } from 'phi-core/node/config'

/** Loads an agent from a file once the user has trusted the requests of the file. */
export async function loadedAgent(path: string, ask: (requests: readonly TrustRequest[]) => Promise<boolean> = atTerminal): Promise<Agent> {
  const { config, warnings, host } = await loadConfigFile(path)
  for (const { field, message } of warnings) console.warn(`${field}: ${message}`)
  const requests = trustRequests(config)
  const trust = requests.length === 0 || (await ask(requests))
  return agentFromConfig(config, { ...host, trust })
}

async function atTerminal(requests: readonly TrustRequest[]): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const list = requests.map(({ kind, what }) => `${kind}: ${JSON.stringify(what)}`).join('\n')
  const answer = await terminal.question(`The file wants:\n${list}\nTrust it? (yes/no) `)
  terminal.close()
  return answer === 'yes'
}
