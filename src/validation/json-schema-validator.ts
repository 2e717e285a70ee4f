import { lateChunk } from '../base/late/late-chunk.ts'
import type { JsonSchema } from '../contract/json.ts'
import type { SchemaResult } from '../types/standard-schema.ts'
import { enforceableSchema } from './enforceable-schema.ts'
import { flatIssues, isFlat } from './flat-schema.ts'
import { resultOf } from './format-issues.ts'
import type { interpret } from './schema-interpreter.ts'

/** Validation result, which is a promise only while a chunk is being loaded. */
export type JsonCheck = (value: unknown) => SchemaResult<unknown> | Promise<SchemaResult<unknown>>

/** Compiles JSON Schemas. Every `SchemaValidator` has this type. */
export interface JsonSchemaCompiler {
  compile(schema: JsonSchema): JsonCheck
}

const interpreter = lateChunk('the JSON Schema interpreter', () => import('./schema-interpreter.ts'))

/**
 * Default validator for JSON Schemas.
 *
 * **Contract**
 * - `compile` throws the same errors as `enforceableSchema`. The schema is neither modified nor retained.
 * - A flat schema (see {@link isFlat}) is checked synchronously. Other schemas use the interpreter. Until it
 *   has loaded, a check returns a promise, which rejects only with `LoadError`. Later checks are synchronous.
 * - A value that is too large, too deep or not JSON is rejected with an issue.
 *
 * Source: docs/concepts/tools.md
 */
export const jsonSchemaValidator: JsonSchemaCompiler = {
  compile(schema) {
    const root = enforceableSchema(schema)
    if (isFlat(root)) return (value) => resultOf(value, (checked) => flatIssues(root, checked))
    let find: ReturnType<typeof interpret> | undefined
    const check = (value: unknown, part: { interpret: typeof interpret }): SchemaResult<unknown> => {
      find ??= part.interpret(root)
      return resultOf(value, find)
    }
    return (value) => {
      const { loaded } = interpreter
      return loaded === undefined ? interpreter.load().then((part) => check(value, part)) : check(value, loaded)
    }
  },
}
