import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { openApiTools } from '../../src/openapi.ts'
import { enforceableSchema } from '../../src/validation/enforceable-schema.ts'

const baseUrl = 'https://api.test'
const recorded = new URL('../../../shared/conformance/openapi/', import.meta.url)
const isThere = existsSync(recorded)
if (!isThere) console.warn('SKIPPED: real OpenAPI documents, because ../shared/conformance is absent')

interface Expected {
  operations?: number
  withOperationId?: number
  operationsFile?: string
  expectError?: string
}

interface ExpectedOperation {
  operationId: string | null
  method: string
  path: string
  pathParams: string[]
  queryParams: string[]
  headerParams: string[]
  required: string[]
  hasJsonBody: boolean
  bodyRequired: boolean
}

const read = (file: string): string => readFileSync(new URL(file, recorded), 'utf8')
const specs: Record<string, Expected> = isThere ? JSON.parse(read('expected.json')).specs : {}

describe.skipIf(!isThere)('published OpenAPI documents', () => {
  it.each(Object.entries(specs))('creates the tools of %s', async (file, { operations, withOperationId, operationsFile, expectError }) => {
    if (expectError !== undefined) return expect(openApiTools(read(file))).rejects.toThrow(expectError)
    if (withOperationId === 0) {
      await expect(openApiTools(read(file), { baseUrl })).rejects.toThrow(operations === 0 ? 'has no operation' : 'nameUnnamed')
      if (operations === 0) return
    } else expect(await openApiTools(read(file), { baseUrl })).toHaveLength(withOperationId ?? -1)
    const infos = new Map<string, { method: string; path: string }>()
    const tools = await openApiTools(read(file), {
      baseUrl,
      nameUnnamed: true,
      needsApproval: (info) => infos.set(info.name, info).size > 0,
    })
    expect(tools).toHaveLength(operations ?? -1)
    const expected: ExpectedOperation[] = JSON.parse(read(operationsFile ?? ''))
    for (const tool of tools) {
      if (typeof tool.needsApproval === 'function') await tool.needsApproval({}, { context: undefined })
      const info = infos.get(tool.name)
      const wanted = expected.find(({ method, path }) => method === info?.method && path === info.path)
      const schema = enforceableSchema(tool.parameters as never) as { properties: object; required?: string[] }
      // The specification itself ignores a parameter of this name.
      const isSent = (name: string) => name !== 'Authorization'
      const { pathParams = [], queryParams = [], headerParams = [], required = [] } = wanted ?? {}
      const keys = Object.keys(schema.properties)
      expect(keys.filter((key) => key !== 'body').toSorted()).toEqual(
        [...pathParams, ...queryParams, ...headerParams].filter(isSent).toSorted(),
      )
      expect((schema.required ?? []).filter((key) => key !== 'body').toSorted()).toEqual(required.filter(isSent).toSorted())
      if (wanted?.hasJsonBody)
        expect([keys.includes('body'), schema.required?.includes('body') ?? false]).toEqual([true, wanted.bodyRequired])
    }
  })
})
