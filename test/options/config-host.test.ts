import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { loadConfigFile } from '../../adapters/node/config/index.ts'
import { agentFromConfig, type ConfigHost } from '../../src/config.ts'
import { memorySessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { loadSkills, memoryWorkspace } from '../../src/tools.ts'
import { checkedOptions } from './surface.ts'

const workspace = memoryWorkspace()
const sample = {
  env: {},
  workspace,
  tools: [],
  sessions: memorySessionStore(),
  fetch,
  skills: await loadSkills(workspace, []),
  trust: true,
  scriptHooks: () => ({}),
  loadPlugin: async () => [],
  connectMcp: () => Promise.reject(new Error('no server')),
  readFile: async () => '',
  models: { mine: scripted([]) },
  createModel: () => scripted([]),
  logger: { warn: () => undefined },
}

checkedOptions<ConfigHost>('agentFromConfig', sample, (host) => agentFromConfig({ provider: { model: 'm', api_key: 'k' } }, host))

const folder = mkdtempSync(join(tmpdir(), 'phi-options-'))
afterAll(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'agent.toml')
writeFileSync(file, '[provider]\nmodel = "m"\napi_key = "k"\n')

const { workspace: _, readFile: __, ...ofNode } = sample
checkedOptions('loadConfigFile', { ...ofNode, root: folder, nodeTools: {} }, async (options: object) => {
  const { config, host } = await loadConfigFile(file, options)
  return agentFromConfig(config, host)
})
