import { expect, it } from 'vitest'
import { toolsOfFiles, toolsOfWeb } from '../../examples/recipes/tools/openapi-files.ts'
import { memoryWorkspace } from '../../src/tools.ts'
import { json, webServer } from '../adapters/mcp/http-server.ts'

const root = { openapi: '3.1.0', servers: [{ url: 'http://127.0.0.1' }], paths: { '/a': { $ref: 'paths/a.json' } } }
const item = { get: { operationId: 'a' } }

it('loads a multi-file OpenAPI document from a workspace and from the web', async () => {
  const workspace = memoryWorkspace({ 'api/openapi.json': JSON.stringify(root), 'api/paths/a.json': JSON.stringify(item) })
  expect(await toolsOfFiles(workspace, 'api/openapi.json')).toMatchObject([{ name: 'a' }])
  let isThere = true
  const { url } = await webServer((one, response) =>
    one.url === '/v1/openapi.json' ? json(response, root) : json(response, item, {}, isThere ? 200 : 404),
  )
  expect(await toolsOfWeb(`${url}/v1/openapi.json`)).toMatchObject([{ name: 'a' }])
  isThere = false
  await expect(toolsOfWeb(`${url}/v1/openapi.json`)).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('404') })
})
