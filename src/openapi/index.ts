// The entry `./openapi`: named exports only, each with its contract in TSDoc.

export { fetchOpenApiTools, openApiTools, readOpenApiTools } from './open-api-tools.ts'
export {
  type FetchOpenApiOptions,
  type OpenApiCredential,
  OpenApiError,
  type OpenApiErrorCode,
  type OpenApiResolver,
  type OpenApiSecret,
  type OpenApiToolsOptions,
  type OperationApproval,
  type OperationFilter,
  type OperationInfo,
  type ReadOpenApiOptions,
} from './options.ts'
