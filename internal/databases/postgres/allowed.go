package postgres

import "github.com/tarelab/tare/internal/base/allow"

// allowed are the settings of postgres that an experiment may set: numbers, switches and
// words. A setting of the type string (postgres --describe-config) is not among them: it can
// name a file, a command or a library.
var allowed = allow.List{
	Program: "the server", Valued: true,
	Names: allow.Words(`
		array_nulls autovacuum_analyze_scale_factor autovacuum_analyze_threshold autovacuum_freeze_max_age
		autovacuum_max_workers autovacuum_multixact_freeze_max_age autovacuum_naptime autovacuum_vacuum_cost_delay
		autovacuum_vacuum_cost_limit autovacuum_vacuum_insert_scale_factor autovacuum_vacuum_insert_threshold
		autovacuum_vacuum_max_threshold autovacuum_vacuum_scale_factor autovacuum_vacuum_threshold autovacuum_work_mem
		autovacuum_worker_slots backend_flush_after bgwriter_delay bgwriter_flush_after bgwriter_lru_maxpages
		bgwriter_lru_multiplier checkpoint_completion_target checkpoint_flush_after checkpoint_timeout
		client_connection_check_interval commit_delay commit_siblings commit_timestamp_buffers compute_query_id
		constraint_exclusion cpu_index_tuple_cost cpu_operator_cost cpu_tuple_cost cursor_tuple_fraction
		data_sync_retry deadlock_timeout default_statistics_target default_toast_compression
		default_transaction_deferrable default_transaction_isolation default_transaction_read_only
		effective_cache_size effective_io_concurrency enable_async_append enable_bitmapscan enable_distinct_reordering
		enable_gathermerge enable_group_by_reordering enable_hashagg enable_hashjoin enable_incremental_sort
		enable_indexonlyscan enable_indexscan enable_material enable_memoize enable_mergejoin enable_nestloop
		enable_parallel_append enable_parallel_hash enable_partition_pruning enable_partitionwise_aggregate
		enable_partitionwise_join enable_presorted_aggregate enable_self_join_elimination enable_seqscan enable_sort
		enable_tidscan file_copy_method from_collapse_limit geqo geqo_effort geqo_generations geqo_pool_size geqo_seed
		geqo_selection_bias geqo_threshold gin_fuzzy_search_limit gin_pending_list_limit hash_mem_multiplier
		huge_page_size huge_pages icu_validation_level io_combine_limit io_max_combine_limit io_max_concurrency io_method
		io_workers jit jit_above_cost jit_inline_above_cost jit_optimize_above_cost join_collapse_limit log_checkpoints
		log_autovacuum_min_duration log_duration log_error_verbosity log_lock_waits log_min_duration_sample
		log_min_duration_statement log_statement log_statement_sample_rate log_temp_files log_transaction_sample_rate
		logical_decoding_work_mem maintenance_io_concurrency maintenance_work_mem max_files_per_process
		max_locks_per_transaction max_notify_queue_pages max_parallel_maintenance_workers max_parallel_workers
		max_parallel_workers_per_gather max_pred_locks_per_page max_pred_locks_per_relation
		max_pred_locks_per_transaction max_prepared_transactions max_replication_slots max_stack_depth
		max_wal_senders max_worker_processes min_dynamic_shared_memory min_parallel_index_scan_size
		min_parallel_table_scan_size min_wal_size multixact_member_buffers multixact_offset_buffers notify_buffers
		old_snapshot_threshold parallel_leader_participation parallel_setup_cost parallel_tuple_cost
		plan_cache_mode random_page_cost recursive_worktable_factor seq_page_cost serializable_buffers
		stats_fetch_consistency subtransaction_buffers summarize_wal synchronize_seqscans temp_buffers temp_file_limit
		track_activities track_activity_query_size track_commit_timestamp track_cost_delay_timing track_counts
		track_functions track_io_timing track_wal_io_timing transaction_buffers update_process_title
		vacuum_buffer_usage_limit vacuum_cost_delay vacuum_cost_limit vacuum_cost_page_dirty vacuum_cost_page_hit
		vacuum_cost_page_miss vacuum_failsafe_age vacuum_freeze_min_age vacuum_freeze_table_age
		vacuum_max_eager_freeze_failure_rate vacuum_multixact_failsafe_age vacuum_multixact_freeze_min_age
		vacuum_multixact_freeze_table_age vacuum_truncate wal_buffers wal_compression wal_decode_buffer_size
		wal_init_zero wal_keep_segments wal_keep_size wal_level wal_log_hints wal_recycle wal_skip_threshold
		wal_writer_delay wal_writer_flush_after work_mem`),
	Ours: allow.Ours(map[string]string{
		"shared_buffers": setBuffers, "fsync": setFsync, "synchronous_commit": setSyncCommit, "full_page_writes": setFullPages,
		"wal_sync_method": setWALSync, "max_wal_size": setMaxWAL, "autovacuum": setAutovacuum,
	}, "data_directory", "config_file", "hba_file", "ident_file", "external_pid_file", "listen_addresses", "port", "max_connections",
		"unix_socket_directories", "unix_socket_permissions", "unix_socket_group", "dynamic_shared_memory_type", "shared_memory_type",
		"restart_after_crash", "lc_messages", "logging_collector", "log_destination"),
}
