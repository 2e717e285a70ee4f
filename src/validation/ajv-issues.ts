import { nameOfPart } from '../base/json/json-value.ts'
import { fieldIn } from '../contract/json.ts'
import type { SchemaIssue } from '../types/standard-schema.ts'
import { maxIssues, typeName } from './format-issues.ts'

/** The used fields of an ajv `ErrorObject`. */
export interface AjvError {
  keyword: string
  instancePath: string
  params: { [name: string]: unknown }
  message?: string
  data?: unknown
}

/** Converts ajv errors to issues with the same paths as the default validator. Returns at most 20 issues. */
export function readErrors(errors: readonly AjvError[], value: unknown): SchemaIssue[] {
  return errors
    .filter((error) => error.keyword !== 'if')
    .slice(0, maxIssues)
    .map((error) => readError(error, value))
}

function readError(error: AjvError, value: unknown): SchemaIssue {
  const path = pathOf(error.instancePath, value)
  const message = error.message ?? `fails ${error.keyword}`
  switch (error.keyword) {
    case 'required':
      return { path: [...path, String(error.params.missingProperty)], message: 'is required' }
    case 'additionalProperties':
      return { path: [...path, String(error.params.additionalProperty)], message: 'is not allowed' }
    case 'unevaluatedProperties':
      return { path: [...path, String(error.params.unevaluatedProperty)], message: 'is not allowed' }
    case 'false schema':
      return { path, message: 'is not allowed' }
    case 'type':
      return { path, message: `expected ${String(error.params.type).replaceAll(',', ' or ')}, got ${typeName(error.data)}` }
    case 'enum':
      return { path, message: `${message}: ${JSON.stringify(error.params.allowedValues).slice(0, 200)}` }
    default:
      return { path, message }
  }
}

function pathOf(pointer: string, value: unknown): PropertyKey[] {
  let found = value
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => {
      const key = nameOfPart(segment)
      const step = Array.isArray(found) ? Number(key) : key
      found = fieldIn(found, key)
      return step
    })
}
