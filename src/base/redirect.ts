/**
 * Whether an answer sends its caller elsewhere. Of the other 3xx none does: 304 says that nothing has changed. 0 is what a browser shows of an answer
 * that it does not follow.
 */
export function isRedirect({ status }: Pick<Response, 'status'>): boolean {
  return [0, 301, 302, 303, 307, 308].includes(status)
}
