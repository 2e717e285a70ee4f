/**
 * An agent file on this machine: profiles, prompt blocks, sub-agents, a skill, an MCP server.
 *
 *     node examples/agent-file/main.ts
 *
 * With ANTHROPIC_API_KEY it uses the models of the file. Without it, scripted models replace them, and the first line says so.
 */
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { textOf } from 'phi-core'
import { agentsFromConfig } from 'phi-core/config'
import { loadConfigFile } from 'phi-core/node/config'
import { scriptedTeam } from './scripted-team.ts'

const root = import.meta.dirname
const packageOf = (name: string) => dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))
const key = process.env.ANTHROPIC_API_KEY
const isScripted = key === undefined || key === ''
console.log(isScripted ? 'No ANTHROPIC_API_KEY: a scripted team plays the models of the file.\n' : 'The models of the file are asked.\n')

const { config, warnings, host } = await loadConfigFile(join(root, 'agent.toml'), {
  root,
  env: {
    ...process.env,
    ANTHROPIC_API_KEY: isScripted ? 'none' : key,
    NODE: process.execPath,
    FILES_SERVER: join(packageOf('@modelcontextprotocol/server-filesystem'), 'dist/index.js'),
  },
  // Trust the file to start its server, and nothing else.
  trust: ({ kind }) => kind === 'server',
  ...(isScripted && { createModel: scriptedTeam }),
})
for (const { message } of warnings) console.warn(message)

const agents = await agentsFromConfig(config, host)
try {
  const run = agents.get('coordinator')?.prompt('Prepare the release notes.')
  for await (const event of run ?? []) {
    if (event.type === 'toolExecutionStart') console.log(`→ ${event.toolName}`)
    if (event.type === 'toolExecutionEnd') console.log(`← ${event.toolName}: ${textOf(event.result.content).trim().split('\n').at(-1)}`)
  }
  console.log(`\n${await run?.text()}`)
} finally {
  for (const agent of agents.values()) await agent.close()
}
