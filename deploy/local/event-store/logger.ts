export interface EventStoreLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}
