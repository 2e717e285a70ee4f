// The entry `./openapi`: named exports only, each with its contract in TSDoc.

export { OpenApiError, type OpenApiErrorCode } from './open-api-error.ts'
export { fetchOpenApiTools, openApiTools, readOpenApiTools } from './open-api-tools.ts'
export type {
  FetchOpenApiOptions,
  OpenApiCredential,
  OpenApiResolver,
  OpenApiSecret,
  OpenApiToolsOptions,
  OperationApproval,
  OperationFilter,
  OperationInfo,
  ReadOpenApiOptions,
} from './options.ts'
