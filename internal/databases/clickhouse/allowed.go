package clickhouse

import "github.com/tarelab/tare/internal/base/allow"

// allowed are the server's settings (system.server_settings and system.merge_tree_settings)
// that an experiment may set: numbers, switches and words. None names a file, a directory,
// a disk, an address or a user.
var allowed = allow.List{
	Program: "the server", Valued: true,
	Names: allow.Words(`
		async_load_databases async_load_system_database background_buffer_flush_schedule_pool_size
		background_common_pool_size background_distributed_schedule_pool_size background_fetches_pool_size
		background_merges_mutations_concurrency_ratio background_merges_mutations_scheduling_policy
		background_message_broker_schedule_pool_size background_move_pool_size background_pool_size
		background_schedule_pool_size cache_size_to_ram_max_ratio cgroups_memory_usage_observer_wait_time
		compiled_expression_cache_elements_size compiled_expression_cache_size
		concurrent_threads_scheduler concurrent_threads_soft_limit_num concurrent_threads_soft_limit_ratio_to_cores
		global_profiler_cpu_time_period_ns global_profiler_real_time_period_ns index_mark_cache_policy
		index_mark_cache_size index_mark_cache_size_ratio index_uncompressed_cache_policy
		index_uncompressed_cache_size index_uncompressed_cache_size_ratio io_thread_pool_queue_size
		jemalloc_enable_background_threads jemalloc_max_background_threads_num keep_alive_timeout mark_cache_policy
		mark_cache_size_ratio max_concurrent_insert_queries max_concurrent_queries max_concurrent_select_queries
		max_connections max_io_thread_pool_free_size max_io_thread_pool_size max_open_files
		max_partition_size_to_drop max_server_memory_usage max_server_memory_usage_to_ram_ratio
		max_table_size_to_drop max_temporary_data_on_disk_size max_thread_pool_free_size max_thread_pool_size
		max_waiting_queries memory_worker_period_ms merges_mutations_memory_usage_soft_limit
		merges_mutations_memory_usage_to_ram_ratio mmap_cache_size page_cache_max_size page_cache_min_size
		prefetch_threadpool_pool_size primary_index_cache_policy primary_index_cache_size thread_pool_queue_size
		total_memory_profiler_step total_memory_tracker_sample_probability uncompressed_cache_policy
		uncompressed_cache_size_ratio
		query_cache.max_entries query_cache.max_entry_size_in_bytes query_cache.max_entry_size_in_rows
		query_cache.max_size_in_bytes
		merge_tree.enable_mixed_granularity_parts merge_tree.fsync_after_insert merge_tree.fsync_part_directory
		merge_tree.index_granularity merge_tree.index_granularity_bytes merge_tree.max_bytes_to_merge_at_max_space_in_pool
		merge_tree.max_parts_in_total merge_tree.max_suspicious_broken_parts merge_tree.merge_max_block_size
		merge_tree.min_bytes_for_compact_part merge_tree.min_bytes_for_wide_part merge_tree.min_rows_for_compact_part
		merge_tree.min_rows_for_wide_part merge_tree.old_parts_lifetime merge_tree.parts_to_delay_insert
		merge_tree.parts_to_throw_insert merge_tree.use_minimalistic_part_header_in_zookeeper`),
	Ours: allow.Ours(map[string]string{
		setMaxThreads: setMaxThreads, setMaxMemory: setMaxMemory, setMaxBlock: setMaxBlock, setUsePlain: setUsePlain,
		setPlainCache: setPlainCache, setMarkCache: setMarkCache,
	}, "path", "tmp_path", "user_files_path", "format_schema_path", "users_config", "listen_host", "http_port", "https_port", "tcp_port",
		"tcp_port_secure", "mysql_port", "postgresql_port", "interserver_http_port", "grpc_port", "default_database", "default_profile"),
}
