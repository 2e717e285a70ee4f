/**
 * Whether an answer sends its caller elsewhere. Of the other 3xx none does: 304 says that nothing has changed. A browser that follows none shows no
 * status either.
 */
export function isRedirect({ type, status }: Pick<Response, 'type' | 'status'>): boolean {
  return type === 'opaqueredirect' || [301, 302, 303, 307, 308].includes(status)
}
